// What a tape must not have: secrets of tools, and what the application wants hidden.
import type { Redactor } from '../../extension.ts'
import type { FileWriter, TapeFiles } from './_files.ts'

/** The most bytes of a stream or an artifact in which secrets can be masked. */
const largestMasked = 67_108_864

/** What keeping needs of a tape and a call. */
export interface OutcomeKeeping {
  readonly files: TapeFiles
  readonly redactor: Redactor | undefined
  /** The application's own masking. */
  readonly redact: ((text: string) => string) | undefined
}

/** Hides the secrets of a call, and what the application wants hidden. */
export function hiddenWords(text: string, { redactor, redact }: OutcomeKeeping): string {
  const own = redactor === undefined ? text : redactor.text(text)
  return redact === undefined ? own : redact(own)
}

/** Writes bytes. If they are text, what it has to hide is masked. */
export function putMasked(bytes: Uint8Array, keeping: OutcomeKeeping): CollectedFile {
  const { files, redactor, redact } = keeping
  const text = redactor === undefined && redact === undefined ? undefined : textOfBytes(bytes)
  const hidden = text === undefined ? undefined : hiddenWords(text, keeping)
  if (hidden === undefined || hidden === text) return { name: files.put(bytes), isMasked: false }
  return { name: files.putText(hidden), isMasked: true }
}

function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Takes bytes in pieces, for a file. */
interface Collecting {
  write(bytes: Uint8Array): void
  /** Returns the file. `undefined` if it is too large for its secrets to be masked. */
  end(): CollectedFile | undefined
}

interface CollectedFile {
  readonly name: string
  readonly isMasked: boolean
}

/** Writes a file from its first piece on. If it may hold secrets, holds the bytes until these are masked. */
export function collecting(keeping: OutcomeKeeping): Collecting {
  const { files, redactor, redact } = keeping
  if (redactor === undefined && redact === undefined) {
    let writer: FileWriter | undefined
    return {
      write(bytes) {
        writer ??= files.writer()
        writer.write(bytes)
      },
      end: () => ({ name: writer?.end() ?? files.put(new Uint8Array()), isMasked: false }),
    }
  }
  let pieces: Uint8Array[] = []
  let length = 0
  return {
    write(bytes) {
      length += bytes.byteLength
      if (length > largestMasked) pieces = []
      else pieces.push(new Uint8Array(bytes))
    },
    end: () => (length > largestMasked ? undefined : putMasked(new Uint8Array(Buffer.concat(pieces)), keeping)),
  }
}
