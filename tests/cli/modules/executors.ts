import { createExecutor, type ToolExecutor } from 'toolwright'

export const one: ToolExecutor = createExecutor()
export const two: ToolExecutor = createExecutor()
