// A file of assembly: functions without a body are allowed in this package.
