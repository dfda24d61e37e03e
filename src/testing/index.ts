export { callLog, observe, type CallLog, type ObservedCall } from './observe.ts'
