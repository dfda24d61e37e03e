import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { ToolPage } from '../_calls.ts'
import { postCall } from './client.ts'
import { JsonView, onOneLine, Text, visibleMarks } from './text.tsx'

interface NewCallProps {
  readonly page: ToolPage
  /** Called with the id of the call. */
  readonly called: (id: string) => void
}

/** Asks which tool to call, and with what. */
export function NewCall({ page, called }: NewCallProps): VNode {
  const [first] = page.tools
  const [name, setName] = useState(first?.name ?? '')
  const [args, setArgs] = useState(sampleFor(first))
  const [fault, setFault] = useState('')
  const tool = page.tools.find((one) => one.name === name)

  async function call(): Promise<void> {
    setFault('')
    try {
      called(await postCall(name, parsedArgs(args)))
    } catch (error) {
      setFault((error as Error).message)
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void call()
      }}
    >
      <div class="title">
        <h2 tabIndex={-1}>Call a tool</h2>
      </div>
      <label>
        Tool
        <select
          value={name}
          onChange={(event) => {
            const { value } = event.currentTarget
            setName(value)
            setArgs(sampleFor(page.tools.find((one) => one.name === value)))
          }}
        >
          {page.tools.map((one) => (
            <option key={one.name} value={one.name}>
              {onOneLine(one.name, 64)}
            </option>
          ))}
        </select>
      </label>
      {tool !== undefined && (
        <p class="facts">
          <Text of={tool.description} />
        </p>
      )}
      <label>
        Args
        <textarea
          spellcheck={false}
          rows={Math.max(4, Math.min(20, args.split('\n').length + 1))}
          value={args}
          onInput={(event) => setArgs(event.currentTarget.value)}
        />
      </label>
      {fault !== '' && (
        <p class="fault" role="alert">
          {visibleMarks(fault)}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="allow" disabled={tool === undefined}>
          Call
        </button>
      </div>
      {tool !== undefined && (
        <details>
          <summary>Schema of the args</summary>
          <pre tabIndex={0}>
            <JsonView of={tool.inputSchema} />
          </pre>
        </details>
      )}
    </form>
  )
}

function parsedArgs(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The args are not JSON: ${(error as Error).message}`, { cause: error })
  }
}

function sampleFor(tool: ToolPage['tools'][number] | undefined): string {
  return JSON.stringify(sampleOf(tool?.inputSchema), null, 2)
}

/** Returns args to begin with: each required field, with its default, its first choice or an empty value. */
function sampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== 'object' || schema === null || depth > 4) return {}
  const {
    type,
    properties,
    required,
    default: defaultValue,
    enum: choices,
    const: fixed,
  } = schema as Record<string, unknown>
  if (defaultValue !== undefined) return defaultValue
  if (fixed !== undefined) return fixed
  if (Array.isArray(choices)) return choices[0]
  const kind = Array.isArray(type) ? type[0] : type
  if (kind === 'string') return ''
  if (kind === 'number' || kind === 'integer') return 0
  if (kind === 'boolean') return false
  if (kind === 'array') return []
  if (kind === 'null') return null
  const names = Array.isArray(required) ? required.map(String) : []
  const fields = (properties ?? {}) as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, sampleOf(fields[name], depth + 1)]),
  )
}
