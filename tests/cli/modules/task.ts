import type { RunTask } from 'toolwright/builtins/tools'

const run: RunTask = ({ task, context }) => `${task}, knowing: ${context}`
export default run
