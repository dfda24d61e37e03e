import type { LanguageModel, ModelMessage, UIMessage } from 'ai'

/** A request of a program. */
export interface Chat {
  readonly model: LanguageModel
  readonly chatId: string
  readonly customer: string
  readonly messages: ModelMessage[]
  readonly abortSignal?: AbortSignal | undefined
}

/** A request of a page. */
export interface Page extends Omit<Chat, 'messages' | 'abortSignal'> {
  readonly uiMessages: UIMessage[]
}
