// A program as flat instructions; the text form is that of Plan::to_text.

class Plan(val main: Int, val functions: List<Function>, val instructions: List<Instruction>)

class Function(val entry: Int, val variables: Int, val params: IntArray)

class Instruction(
    val word: String,
    val slot: Int = -1,
    val at: Int = -1,
    val capacity: Int = 0,
    val places: IntArray = IntArray(0),
    val arguments: List<Expression> = emptyList(),
    val value: Expression? = null,
    val cases: List<Alternative> = emptyList(),
    val isSingle: Boolean = false
)

/** One case of a select. */
class Alternative(
    val word: String,
    val target: Int,
    val kind: String = "unit",
    val slot: Int = -1,
    val ok: Int = -1,
    val channel: Expression? = null,
    val value: Expression? = null
)

class BadPlan(message: String) : Exception(message)

/** The capacity of a channel without bounds. */
const val UNBOUNDED = -1

/** What is computed without waiting. Values are Unit, Boolean, Long, a numbered channel or null. */
class Expression(
    private val word: String,
    private val constant: Any? = null,
    private val slot: Int = -1,
    private val left: Expression? = null,
    private val right: Expression? = null
) {
    fun evaluate(variables: Array<Any?>): Any? = when (word) {
        "constant" -> constant
        "variable" -> variables[slot]
        "!" -> !(left!!.evaluate(variables) as Boolean)
        "neg" -> -(left!!.evaluate(variables) as Long)
        else -> combine(left!!.evaluate(variables), right!!.evaluate(variables))
    }

    private fun combine(left: Any?, right: Any?): Any? = when (word) {
        "==" -> left == right
        "!=" -> left != right
        "||" -> left as Boolean || right as Boolean
        "&&" -> left as Boolean && right as Boolean
        "<" -> (left as Long) < (right as Long)
        "<=" -> (left as Long) <= (right as Long)
        ">" -> (left as Long) > (right as Long)
        ">=" -> (left as Long) >= (right as Long)
        "+" -> (left as Long) + (right as Long)
        "-" -> (left as Long) - (right as Long)
        else -> (left as Long) * (right as Long)
    }
}

private val BINARY = setOf("||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*")

private class Words(line: String) {
    private val words = line.trim().split(' ')
    private var position = 0

    fun hasMore() = position < words.size

    fun next(): String {
        if (!hasMore()) throw BadPlan("the line ends too early")
        return words[position++]
    }

    fun number() = next().toIntOrNull() ?: throw BadPlan("a number is missing or too large")

    fun optional(): Int {
        val word = next()
        return if (word == "_") -1 else word.toIntOrNull() ?: throw BadPlan("neither a number nor `_`")
    }

    fun rest(): IntArray {
        val numbers = ArrayList<Int>()
        while (hasMore()) numbers.add(number())
        return numbers.toIntArray()
    }

    fun expression(depth: Int = 0): Expression {
        if (depth > 250) throw BadPlan("an expression is nested too deeply")
        val word = next()
        return when {
            word == "()" -> Expression("constant", Unit)
            word == "true" || word == "false" -> Expression("constant", word == "true")
            word == "nil" -> Expression("constant", null)
            word == "!" || word == "neg" -> Expression(word, left = expression(depth + 1))
            word in BINARY -> {
                val left = expression(depth + 1)
                Expression(word, left = left, right = expression(depth + 1))
            }
            word.startsWith("v") -> Expression("variable", slot = word.substring(1).toInt())
            word.startsWith("i") -> Expression("constant", word.substring(1).toLong())
            else -> throw BadPlan("an expression is unknown")
        }
    }

    fun function() = Function(number(), number(), rest())

    fun instruction(word: String): Instruction = when (word) {
        "jump", "spawn" -> Instruction(word, at = number())
        "choose" -> Instruction(word, places = rest())
        "set" -> Instruction(word, slot = number(), value = expression())
        "unless" -> Instruction(word, at = number(), value = expression())
        "open" -> {
            val slot = number()
            val size = next()
            val capacity = if (size == "unbounded") UNBOUNDED else size.toInt()
            Instruction(word, slot = slot, capacity = capacity)
        }
        "call" -> {
            val function = number()
            val slot = optional()
            val arguments = (1..number()).map { expression() }
            Instruction(word, at = function, slot = slot, arguments = arguments)
        }
        "return" -> Instruction(word, value = if (hasMore()) expression() else null)
        "see", "close" -> Instruction(word, value = expression())
        "abandon" -> throw BadPlan("here receivers cannot leave")
        "select", "single" -> {
            val default = optional()
            val cases = (1..number()).map { alternative() }
            Instruction("select", at = default, cases = cases, isSingle = word == "single")
        }
        else -> throw BadPlan("there is no such instruction")
    }

    private fun alternative(): Alternative {
        val word = next()
        val target = number()
        return when (word) {
            "put" -> Alternative(word, target, channel = expression(), value = expression())
            "get" -> Alternative(word, target, next(), optional(), optional(), expression())
            "timeout" -> Alternative(word, target)
            else -> throw BadPlan("there is no such case")
        }
    }
}

fun readPlan(lines: List<String>): Plan {
    var main = 0
    val functions = ArrayList<Function>()
    val instructions = ArrayList<Instruction>()
    for (line in lines) {
        val words = Words(line)
        val word = words.next()
        when (word) {
            "main" -> main = words.number()
            "fn" -> functions.add(words.function())
            else -> instructions.add(words.instruction(word))
        }
    }
    if (main >= functions.size) throw BadPlan("the plan has no entry")
    return Plan(main, functions, instructions)
}
