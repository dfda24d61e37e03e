import type { Caller, ToolEventOf, ToolExecutor, ToolResult, ToolValues } from '../index.ts'
import {
  checkOptions,
  functionOption,
  required,
  stringOption,
  type OptionCheck,
  type OptionChecks,
} from '../extension.ts'
import type { AiSdkOptions } from '../formats/ai-sdk.ts'

/** A provider whose dialect schemas are written in. */
export type DialectName = NonNullable<AiSdkOptions['dialect']>

/** A function of a framework whose types this package does not import. */
export type ForeignFunction = (...args: unknown[]) => unknown

/** What every framework is given. */
export interface FrameworkOptions {
  /** Runs every call. */
  readonly executor: ToolExecutor
  /**
   * The conversation. Handles and approvals hold within it, over requests and processes, and no call of it runs twice. Check
   * first who may take part in it.
   */
  readonly session: string
  /** Default: `'model'`. */
  readonly caller?: Caller
  /** For whom the calls are made. Default: not known. */
  readonly principal?: string
  /**
   * The application's data for handlers and policies. A function gets the framework's own context of a call. Default: that context. An
   * object is merged with it, and stands before it: a client may have sent the context.
   */
  readonly values?: ToolValues | ((context: unknown) => ToolValues)
  /** Who answers the questions of this conversation, for the record. Default: the name of the framework. */
  readonly decidedBy?: string
  /**
   * Returns the identity of a call, for at-most-once execution, from the framework's id of it. Needed if ids repeat within the
   * session. Default: `<session>/<id>`, of a digest of the id if it is long or has a `/`.
   */
  readonly invocationId?: (id: string, name: string) => string
  /** The provider behind the framework, whose rules schemas follow. Default: none, and schemas go out as they are. */
  readonly dialect?: DialectName
  /** Takes faults that belong to no call, and what cannot be offered. Default: `console.error`. */
  readonly report?: (error: unknown) => void
}

/** A person's answer, as a framework passes it on. */
export interface PersonAnswer {
  readonly decision: 'allow' | 'deny'
  readonly note?: string | undefined
}

/** What the person is asked. */
export interface ApprovalQuestion {
  readonly prompt: string
  readonly why?: string | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

/** How a framework runs a call. */
export interface FrameworkRun {
  /** The person's answer, if the framework has one. */
  readonly answer?: PersonAnswer | undefined
  /**
   * Whether the answer comes from the server's own state, and not from what a client sent. Then it also counts for a call about
   * which no person was asked before, such as "always approve".
   */
  readonly isVouched?: boolean
  /** The framework's own context. */
  readonly context?: unknown
  readonly signal?: AbortSignal | undefined
  /** Takes the progress of the call. */
  readonly tell?: ((event: ToolEventOf<'tool:progress'>) => void) | undefined
}

/** An answer to a call that the framework does not run: a denial, or what a client gave. */
export interface AnswerOfCall {
  readonly id: string
  readonly name: string
  readonly answer: PersonAnswer | { readonly value: unknown }
}

/** The JSON of a result, for frameworks that keep results. Formats make the same reply of it. */
export interface FrameworkResult extends Omit<ToolResult, 'artifact' | 'durationMs' | 'error' | 'token'> {
  readonly artifact?: { readonly kind: string; readonly mediaType: string; readonly byteLength: number }
  readonly error?: {
    readonly name: string
    readonly code: string
    readonly message: string
    readonly retryable: boolean
  }
}

const conversationChecks: OptionChecks<FrameworkOptions> = {
  executor: required({
    expected: 'what `createExecutor` returned',
    accepts: (value) => typeof (value as Partial<ToolExecutor> | null)?.tools === 'function',
  }),
  session: required({
    expected: 'text that names the conversation, in which approvals and handles hold',
    accepts: (value) => typeof value === 'string' && value !== '',
  }),
  caller: { expected: '"model", "user" or { app: "its name" }', accepts: isCaller },
  principal: stringOption,
  values: { expected: 'an object, or a function that returns one', accepts: (value) => Object(value) === value },
  decidedBy: stringOption,
  invocationId: functionOption,
  dialect: stringOption,
  report: functionOption,
}

/**
 * Checks the options of a framework's function: those of every conversation, and its own.
 *
 * @param owner The function, for the error.
 * @throws `E_INVALID_CONFIGURATION` if one of them is unknown, missing or wrong.
 */
export function checkConversation<Options extends object>(
  owner: string,
  options: Options,
  own: OptionChecks<Omit<Options, keyof FrameworkOptions>>,
): void {
  checkOptions<object>(owner, options, { ...conversationChecks, ...own })
}

/** Takes one of a framework's classes or functions. @param expected What it is, and where the framework has it. */
export function frameworkOption(expected: string): OptionCheck {
  return required({ ...functionOption, expected })
}

/** Whether a value, such as a framework's module, has these classes or functions. */
export function hasFunctions(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}

function isCaller(value: unknown): boolean {
  return value === 'model' || value === 'user' || typeof (value as { readonly app?: unknown } | null)?.app === 'string'
}
