/**
 * Stores artifacts as files on one machine's disk. It stores and returns bytes: it knows no tools and no calls, grants no
 * access by caller, and never uses a caller's text as a path.
 *
 * @module
 */
import { createSha256 } from '#sha256'
import { link, lstat, mkdir, rename, unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Extension } from '../index.ts'
import { ArtifactError, InvalidConfigurationError } from '../errors.ts'
import { checkOptions, numberFrom, type ArtifactStore, type SpoolReader, type SpoolSource } from '../extension.ts'
import { isHandle, newHandle, noArtifact, tooLargeSource } from './_handles.ts'
import { piecesOf } from './_source.ts'
import { collect, forget, type Collected } from './file/_collect.ts'
import {
  beat,
  createFile,
  diskSlots,
  withPlainErrors,
  openToRead,
  Places,
  streamSlots,
  syncDirectory,
  unless,
  unlessMissing,
  writeAll,
} from './file/_disk.ts'
import { readEntry, type ArtifactMetadata } from './file/_entry.ts'

export type { Collected } from './file/_collect.ts'

const filePieceLength = 1_048_576

/** The options of `fileStore`. */
export interface FileStoreOptions {
  /** The most bytes that one artifact may have. Default: 4,294,967,296 (4 GiB). */
  readonly maximumBytes?: number
}

/** A store of files, for `use`. */
export interface FileStore extends Extension {
  readonly store: ArtifactStore
  /**
   * Removes files that no handle opens: those of processes that were killed during a write, and contents without artifacts.
   * With `olderThan`, also removes old artifacts. Any process of the machine may write, read and collect at the same time.
   *
   * A file that its writer has not touched for 10 minutes counts as abandoned. If that writer is still alive, its write fails.
   *
   * @param options `olderThan`: the age in milliseconds beyond which artifacts are removed. Default: no artifact is.
   * @returns How many artifacts and how many other files were removed.
   * @throws `E_ARTIFACT` if the disk refuses, `E_INVALID_CONFIGURATION` if `olderThan` is not a number of milliseconds.
   */
  readonly collect: (options?: { readonly olderThan?: number }) => Promise<Collected>
}

/**
 * Makes a store of files, named by the SHA-256 of their bytes. Artifacts outlive the process.
 *
 * Equal bytes are stored once. When `write` resolves, the artifact is on the disk. A write that fails or is aborted leaves
 * nothing. Several processes of one machine may share a directory; its file system must have hard links. Only the owner can
 * read the files (0600) and the directories (0700).
 *
 * All stores of a process together write at most 64 artifacts and 128 streams at once; further writes wait. If the process has
 * no file descriptors left, the store waits up to 5 s for one.
 *
 * @param directory The directory; made on the first write.
 * @param options The limit of one artifact.
 * @throws `E_INVALID_CONFIGURATION` if `directory` is not a path, or an option is wrong. The store throws `E_ARTIFACT`.
 * @experimental
 * @example
 * ```ts
 * import { createExecutor } from 'toolwright'
 * import { fileStore } from 'toolwright/stores/file'
 *
 * const files = fileStore('./artifacts')
 * const executor = createExecutor({ tools: [], use: [files] })
 * const clean = () => void files.collect({ olderThan: 7 * 86_400_000 }).catch(console.error)
 * setInterval(clean, 3_600_000).unref()
 * ```
 */
export function fileStore(directory: string, options: FileStoreOptions = {}): FileStore {
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0')) {
    throw new InvalidConfigurationError('fileStore takes the path of a directory, as in fileStore("./artifacts").')
  }
  checkOptions('fileStore', options, { maximumBytes: numberFrom(1) })
  const { maximumBytes = 4_294_967_296 } = options
  const places = new Places(directory)

  async function write(source: SpoolSource, { session, mediaType, signal }: Writing): Promise<WriteReceipt> {
    const handle = newHandle()
    const path = places.newContent(handle)
    const file = await withPlainErrors('written', () => createIn(places, path))
    const stop = beat(path)
    try {
      const written = await pour(file, source, maximumBytes, signal)
      const entry = { ...written, session, mediaType }
      await withPlainErrors('written', () => commit(places, handle, file, entry, signal))
      return { handle, ...written }
    } finally {
      stop()
      await file.close().catch(() => {})
      await unlink(path).catch(() => {})
    }
  }

  const store: ArtifactStore = {
    write(source, writing) {
      const slots = typeof source === 'string' || source instanceof Uint8Array ? diskSlots : streamSlots
      return slots.take(() => write(source, writing), writing.signal)
    },

    open: (handle, { session }) =>
      onDisk('read', async () => {
        const entry = isHandle(handle) ? await readEntry(places, handle) : undefined
        if (entry?.session !== session) throw noArtifact(handle)
        return fileReader(places, handle, entry)
      }),

    delete: (handle) =>
      onDisk('deleted', async () => {
        const entry = isHandle(handle) ? await readEntry(places, handle) : undefined
        if (entry !== undefined) await forget(places, handle, entry.sha256)
      }),
  }

  return {
    store,
    async collect(collectOptions = {}) {
      checkOptions('collect', collectOptions, { olderThan: numberFrom(0) })
      const { olderThan = Infinity } = collectOptions
      return onDisk('collected', () => collect(places, olderThan))
    },
  }
}

type Writing = Parameters<ArtifactStore['write']>[1]
type WriteReceipt = Awaited<ReturnType<ArtifactStore['write']>>

/** Waits for a slot, then runs the work. Errors name no path. */
function onDisk<Value>(done: string, work: () => Promise<Value>): Promise<Value> {
  return diskSlots.take(() => withPlainErrors(done, work))
}

/** Opens a new file. Makes the directories if they do not exist. */
async function createIn(places: Places, path: string, giveBack?: () => Promise<void>): Promise<FileHandle> {
  const file = await createFile(path, giveBack).catch(unlessMissing)
  if (file !== undefined) return file
  for (const directory of [places.contents, places.handles]) {
    const first = await makeDirectories(directory)
    if (first !== undefined) await syncDirectory(dirname(first))
  }
  return createFile(path, giveBack)
}

/** Makes a directory and those above it. Returns the first that was made. */
async function makeDirectories(directory: string): Promise<string | undefined> {
  try {
    return await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    unlessMissing(error)
    // Node says ENOENT where the file system may only be read. One directory at a time, the system says the reason.
    for (let missing = directory; missing !== dirname(missing); missing = dirname(missing)) {
      await mkdir(missing, { mode: 0o700 }).catch(unlessMissing)
    }
    throw error
  }
}

/** Writes a source piece by piece. While the disk writes a piece, it is hashed and the next one is fetched. */
async function pour(
  file: FileHandle,
  source: SpoolSource,
  maximumBytes: number,
  signal: AbortSignal | undefined,
): Promise<Pick<ArtifactMetadata, 'sha256' | 'byteLength'>> {
  const hash = createSha256()
  let byteLength = 0
  let writing: Promise<void> | undefined
  for await (const piece of piecesOf(source, filePieceLength, signal)) {
    await writing
    const position = byteLength
    byteLength += piece.byteLength
    if (byteLength > maximumBytes) throw tooLargeSource(maximumBytes)
    writing = withPlainErrors('written', () => writeAll(file, piece, position))
    writing.catch(() => {}) // awaited above or below, unless the source fails first
    hash.update(piece)
  }
  await writing
  return { sha256: hash.digest(), byteLength }
}

/** Turns a written file into an artifact. */
async function commit(
  places: Places,
  handle: string,
  file: FileHandle,
  entry: ArtifactMetadata,
  signal: AbortSignal | undefined,
): Promise<void> {
  let isSynced = false
  const giveBack = async (): Promise<void> => {
    if (isSynced) return
    await file.datasync()
    isSynced = true
    await file.close()
  }
  try {
    const entryFile = await createIn(places, places.newEntry(handle), giveBack)
    try {
      await entryFile.writeFile(JSON.stringify(entry))
      // Contents get their name after they are on the disk, so existing ones need no second sync.
      const isShared = await shareContent(places, handle, entry)
      await Promise.all([entryFile.datasync(), isShared || isSynced || file.datasync()])
      if (!isShared) await nameFile(places, handle, entry)
    } finally {
      await Promise.all([entryFile.close(), file.close()])
    }
    signal?.throwIfAborted()
    // The last step: the handle opens only after everything else is on the disk.
    await rename(places.newEntry(handle), places.entry(handle))
    await syncDirectory(places.handles)
  } catch (error) {
    await unlink(places.newEntry(handle)).catch(() => {})
    await forget(places, handle, entry.sha256).catch(() => {})
    throw error
  }
}

/** Links the handle to a file with equal bytes. Returns `false` if there is none that can be linked. */
async function shareContent(
  places: Places,
  handle: string,
  { sha256, byteLength }: ArtifactMetadata,
): Promise<boolean> {
  const isLinked = await link(places.content(sha256), places.own(handle)).then(() => true, unless('ENOENT', 'EMLINK'))
  if (isLinked !== true) return false
  const file = await lstat(places.own(handle))
  if (file.isFile() && file.size === byteLength) return true
  await unlink(places.own(handle)) // the file was truncated or replaced
  return false
}

/** Names the new file by its handle and by its hash. Replaces a file of the same hash that cannot be linked. */
async function nameFile(places: Places, handle: string, { sha256 }: ArtifactMetadata): Promise<void> {
  await link(places.newContent(handle), places.own(handle))
  await rename(places.newContent(handle), places.content(sha256))
}

/**
 * Reads ranges. The file is open only during a read, so a forgotten reader holds no descriptor. Of a file that was changed, the
 * length tells, and the digest if all of it is read.
 */
function fileReader(places: Places, handle: string, { sha256, byteLength, mediaType }: ArtifactMetadata): SpoolReader {
  return {
    byteLength,
    mediaType,
    read: (start, end) =>
      onDisk('read', async () => {
        const file = await openToRead(places.own(handle))
        if (file === undefined) throw noArtifact(handle)
        try {
          const { size } = await file.stat()
          if (size !== byteLength) throw alteredFile(`has ${size} bytes and not ${byteLength}`)
          const bytes = new Uint8Array(Math.max(0, end - start))
          const hash = start === 0 && end === byteLength ? createSha256() : undefined
          for (let offset = 0; offset < bytes.byteLength;) {
            const length = Math.min(filePieceLength, bytes.byteLength - offset)
            const { bytesRead } = await file.read(bytes, offset, length, start + offset)
            if (bytesRead === 0) throw alteredFile('was cut short')
            hash?.update(bytes.subarray(offset, offset + bytesRead))
            offset += bytesRead
          }
          if (hash !== undefined && hash.digest() !== sha256) {
            await unlink(places.content(sha256)).catch(() => {}) // the next write of these bytes must not share it
            throw alteredFile('has other bytes')
          }
          return bytes
        } finally {
          await file.close()
        }
      }),
  }
}

function alteredFile(what: string): ArtifactError {
  return new ArtifactError(
    `The artifact cannot be read: its file on the disk was changed since it was written, and ${what}. Call the tool that returned it again.`,
  )
}
