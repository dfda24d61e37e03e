/**
 * The port of sandboxes: what the built-in tools need of the place in which they read, write and run. It knows no tools, no
 * models and no approvals. Every implementation runs the same conformance suite.
 *
 * @module
 */
import { ToolFailure } from '../index.ts'

/** The bytes of a file, or of a part of it. */
export interface FileContent {
  readonly bytes: Uint8Array
  /** The size of the whole file in bytes. */
  readonly size: number
  /** Changes whenever the file changes, or another file takes its name. */
  readonly version: string
}

/** What a sandbox knows of a file. */
export interface FileStatus {
  readonly kind: 'file' | 'directory' | 'other'
  readonly size: number
  readonly version: string
}

/** Which bytes of a file are read. */
export interface ReadOptions {
  /** The first byte. Default: 0. */
  readonly start?: number | undefined
  /** The end, in bytes. Default: the end of the file; a larger rest than 64 MiB is refused. */
  readonly end?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** How a file is written. */
export interface WriteOptions {
  /** The version that the file must have, or `null` if there must be none. Default: any. */
  readonly expect?: string | null | undefined
  readonly signal?: AbortSignal | undefined
}

/** Which files below a path are found. */
export interface WalkOptions {
  /** Whether to include what `.gitignore` files and `node_modules` hide. `.git` is always left out. Default: `false`. */
  readonly hidden?: boolean | undefined
  /** How many entries are looked at. Default: 100,000. */
  readonly limit?: number | undefined
  /**
   * Chooses files by their path from the root and from the start of the walk, before anything else is read of them. Default:
   * all.
   */
  readonly matches?: ((path: string, relative: string) => boolean) | undefined
  /** Called if the walk ends at the limit. */
  readonly onLimit?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** A file that `walk` has found. */
export interface WalkedFile {
  /** Relative to the root. */
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /**
   * Reads the file up to a byte, faster than by its path. Only while the walk stands at the file, and only if the sandbox has a
   * faster way.
   */
  readonly read?: (end: number) => Promise<Uint8Array>
}

/** Reads and writes files. Paths are relative to a root, or absolute and within it. A refusal is a `ToolFailure`. */
export interface FileAccess {
  readFile(path: string, options?: ReadOptions): Promise<FileContent>
  /**
   * Replaces a file in one step, or makes it and its missing directories. Of those who write at once with the same `expect`, one
   * writes, and the others are refused.
   */
  writeFile(
    path: string,
    bytes: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ readonly version: string; readonly created: boolean }>
  /** Returns `null` if there is no such file. */
  stat(path: string): Promise<FileStatus | null>
  /**
   * Returns the identity of the file that a path leads to, or would make: all paths to it have the same, in every sandbox of this
   * process. Changes of one file follow one another by it. Default: the path as it is written, in this sandbox alone.
   */
  identify?(path: string): Promise<string>
  /** Yields the regular files below a directory, or the file itself, sorted by path. Follows no link below it. */
  walk(path: string, options?: WalkOptions): AsyncIterable<WalkedFile>
}

/** How a command runs. */
export interface ExecOptions {
  /** A directory within the root. Default: the root. */
  readonly cwd?: string | undefined
  /** Added to the environment of the sandbox. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Milliseconds. Default: 120,000; of background commands none. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Takes all output as it comes. The command waits until it resolves. */
  readonly onOutput?: ((stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>) | undefined
}

/** One stream of a command: its beginning and its end. */
export interface Output {
  /** Decoded, with control characters shown as pictures. */
  readonly text: string
  readonly totalBytes: number
  /** How many bytes between beginning and end are left out. */
  readonly omittedBytes: number
}

/** What a command has written, and how it ended. */
export interface ExecResult {
  /** `null` if a signal ended the command. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** What a command in the background has written. */
export interface JobLogs {
  readonly text: string
  /** The number of bytes so far, to go on from. */
  readonly next: number
  readonly state: 'running' | 'exited'
  readonly exitCode: number | null
}

/** A command in the background. */
export interface Job {
  /** Random, and no number of a process. */
  readonly id: string
  /** Returns the output from a byte on: at most the last 1 MiB is kept. `maximumBytes` default: 32,768. */
  logs(since?: number, maximumBytes?: number): JobLogs
  /** Ends the command with all that it started. Does nothing if it has ended. */
  kill(): Promise<void>
  readonly done: Promise<ExecResult>
}

/** What is searched for in files. */
export interface SearchQuery {
  /** In the syntax of RE2. */
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly path: string
  /** A glob that files must match; at any depth if it has no slash. */
  readonly glob?: string | undefined
  readonly hidden: boolean
  /** How many lines before and after each match are given too. */
  readonly context: number
  readonly signal?: AbortSignal | undefined
}

/** A line that a search has found. */
export interface Match {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly text: string
  /** Whether the line is there only as context. */
  readonly isContext: boolean
}

/** Access to one path outside the root, which a person granted. */
export interface Grant {
  /** The path with all links resolved. */
  readonly path: string
  readonly files: FileAccess
  /** Whether a path, as a model wrote it, is what was granted or below it. */
  covers(path: string): boolean
  /** Ends the access. */
  revoke(): void
}

/** What files and commands a tool may touch. */
export interface Sandbox extends FileAccess {
  readonly name: string
  /** What holds against a hostile command: nothing, the namespaces of processes, or a machine of its own. */
  readonly isolation: 'none' | 'process' | 'machine'
  readonly root: string
  /**
   * How paths are kept within the root: by descriptors, so that what is swapped meanwhile cannot lead out, or by a comparison of
   * real paths before each use, which holds only if nothing is swapped meanwhile. Default: the sandbox does not tell.
   */
  readonly paths?: 'descriptor' | 'real-path'
  /** Searches faster than a walk would. Only if the sandbox has an engine for it. */
  search?(query: SearchQuery): AsyncIterable<Match>
  /** Runs a command in a shell, and ends with it all that it started. An exit code other than 0 is a result. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
  execBackground(command: string, options?: ExecOptions): Promise<Job>
  /** Returns where a path outside the root leads, or `null` if it is within the root. */
  outside?(path: string): Promise<string | null>
  /** Gives access to one path outside the root: a file, or a directory with all below it. */
  grant?(path: string, access: { readonly write: boolean }): Promise<Grant>
  /** Ends all commands. */
  close(): Promise<void>
}

/**
 * A path leads out of the root of a sandbox. A sandbox of your own throws it; the model reads its message.
 *
 * @example
 * ```ts
 * import { OutsideError } from 'toolwright/builtins/sandbox'
 *
 * const root = '/work'
 *
 * // Returns the path of a file in a sandbox of your own.
 * function within(path: string): string {
 *   const { pathname } = new URL(path, `file://${root}/`)
 *   if (!pathname.startsWith(`${root}/`)) throw new OutsideError(path, root)
 *   return pathname
 * }
 *
 * console.log(within('notes.md')) // /work/notes.md; '../etc/passwd' throws
 * ```
 */
export class OutsideError extends ToolFailure {
  /**
   * @param path The path as the model gave it. The message shows its first 120 characters.
   * @param root The directory that it had to stay within.
   */
  constructor(path: string, root: string) {
    super(`${JSON.stringify(path.slice(0, 120))} is outside the workspace ${root}.`, {
      recommendations: ['Use a path within the workspace, relative to its root.'],
    })
  }
}
