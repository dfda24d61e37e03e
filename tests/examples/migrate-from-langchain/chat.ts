import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/** A run of the agent, in the thread of a customer. */
export interface Run {
  readonly model: BaseChatModel
  readonly thread: string
  readonly customer: string
  readonly signal?: AbortSignal
}
