package examples

import "sync"

// Sum adds numbers with a pool of workers. Nothing is wrong with it.
func Sum(numbers []int, workers int) int {
	jobs, results := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for number := range jobs {
				results <- number
			}
		}()
	}
	go func() {
		for _, number := range numbers {
			jobs <- number
		}
		close(jobs)
		wg.Wait()
		close(results)
	}()
	sum := 0
	for result := range results {
		sum += result
	}
	return sum
}
