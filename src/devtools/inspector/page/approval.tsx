import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { WireError } from '../../../client/browser.ts'
import type { CallView, Wait } from '../../../client/protocol.ts'
import { client } from './client.ts'
import { Countdown } from './countdown.tsx'
import { onOneLine, Text, visibleMarks } from './text.tsx'

/** What stands in place of a secret. */
const secretMask = '[secret]'

/** Asks about a call that waits for approval. */
export function ApprovalForm({ call, waiting }: { readonly call: CallView; readonly waiting: Wait }): VNode {
  const { invocationId, args } = call
  const [note, setNote] = useState('')
  const [edited, setEdited] = useState<string>()
  const [busy, setBusy] = useState<'allow' | 'deny'>()
  const [fault, setFault] = useState<readonly string[]>([])
  const { prompt, why, lease, expiresAt, meta } = waiting
  const preview = meta?.['preview']

  async function decide(decision: 'allow' | 'deny'): Promise<void> {
    setFault([])
    let editedArgs: unknown
    try {
      if (decision === 'allow' && edited !== undefined) editedArgs = JSON.parse(edited)
    } catch (error) {
      return setFault([`The args are not JSON: ${(error as Error).message}`])
    }
    setBusy(decision)
    try {
      await client.decide(invocationId, decision, {
        ...(note !== '' && { note }),
        ...(editedArgs !== undefined && { editedArgs }),
      })
    } catch (error) {
      const { message, issues = [] } = error as WireError
      setFault([message, ...issues.map(({ path, message: words }) => `${pathWords(path)}${words}`)])
      setBusy(undefined)
    }
  }

  const requiresApproval = lease !== undefined && lease.holder !== client.holder && lease.until > client.now()
  return (
    <form
      class="card ask"
      aria-label="Approval"
      onSubmit={(event) => {
        event.preventDefault()
        void decide('allow')
      }}
    >
      <p class="prompt">
        <Text of={prompt} />
      </p>
      {why !== undefined && (
        <p class="facts">
          <Text of={why} />
        </p>
      )}
      {preview !== undefined && (
        <pre tabIndex={0}>
          <Text of={typeof preview === 'string' ? preview : JSON.stringify(preview, null, 2)} />
        </pre>
      )}
      {edited !== undefined && (
        <label>
          Edited args
          <textarea
            spellcheck={false}
            rows={Math.min(16, edited.split('\n').length + 1)}
            value={edited}
            onInput={(event) => setEdited(event.currentTarget.value)}
          />
          {edited.includes(secretMask) && (
            <span class="facts">Write secrets anew: {secretMask} would be sent as it stands.</span>
          )}
        </label>
      )}
      <label>
        Note
        <input
          placeholder="Optional: the model reads it if you deny"
          maxLength={4_000}
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      {fault.length > 0 && (
        <ul class="fault" role="alert">
          {fault.map((words) => (
            <li key={words}>{visibleMarks(words)}</li>
          ))}
        </ul>
      )}
      <div class="buttons">
        <button type="submit" class="allow" disabled={busy !== undefined}>
          {busy === 'allow' ? 'Approving…' : edited === undefined ? 'Approve' : 'Approve edited'}
        </button>
        <button type="button" class="danger" disabled={busy !== undefined} onClick={() => void decide('deny')}>
          {busy === 'deny' ? 'Denying…' : 'Deny'}
        </button>
        <button
          type="button"
          disabled={busy !== undefined || args === undefined}
          onClick={() => setEdited(edited === undefined ? JSON.stringify(args, null, 2) : undefined)}
        >
          {edited === undefined ? 'Edit args' : 'Keep args'}
        </button>
        <span class="facts">
          {requiresApproval && (
            <>
              held by <code>{onOneLine(lease.holder, 40)}</code> ·{' '}
            </>
          )}
          <Countdown until={expiresAt} />
        </span>
      </div>
    </form>
  )
}

function pathWords(path: readonly unknown[] | undefined): string {
  if (path === undefined || path.length === 0) return ''
  const keys = path.map((step) => (typeof step === 'object' && step !== null ? (step as { key: unknown }).key : step))
  return `${keys.join('.')}: `
}
