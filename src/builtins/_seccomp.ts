/** The numbers of one architecture. */
interface Architecture {
  readonly audit: number
  readonly socket: number
  readonly ioctl: number
  readonly denied: readonly number[]
}

// In the order: ptrace, process_vm_readv, process_vm_writev, keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, mount,
// umount2, pivot_root, setns, init_module, finit_module, delete_module, kexec_load, open_by_handle_at.
const x64: Architecture = {
  audit: 0xc000003e,
  socket: 41,
  ioctl: 16,
  denied: [101, 310, 311, 250, 248, 249, 321, 298, 323, 165, 166, 155, 308, 175, 313, 176, 246, 304],
}
const arm64: Architecture = {
  audit: 0xc00000b7,
  socket: 198,
  ioctl: 29,
  denied: [117, 270, 271, 219, 217, 218, 280, 241, 282, 40, 39, 41, 268, 105, 273, 106, 104, 265],
}

// The same everywhere: io_uring_setup, io_uring_enter, io_uring_register, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
// mount_setattr.
const deniedEverywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442]
/** TIOCSTI and TIOCLINUX: they type into a terminal. */
const deniedRequests = [0x5412, 0x541c]
/** AF_ALG and AF_VSOCK: a way to the kernel's ciphers, and one to the host of a virtual machine. */
const deniedFamilies = [38, 40]
const unixFamily = 1

const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const giveBack = 0x06
const allow = 0x7fff0000
const refuseWithEperm = 0x00050001
const firstOfX32 = 0x40000000

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/**
 * Returns the program of a seccomp filter that refuses what a sandboxed command has no use for, with EPERM.
 *
 * @param unixSockets Whether sockets of the file system may be opened. Pairs of sockets always may.
 * @returns `undefined` for an architecture whose numbers are not known.
 */
export function seccompFilter(unixSockets: boolean, name: string = process.arch): Uint8Array | undefined {
  const architecture = name === 'x64' ? x64 : name === 'arm64' ? arm64 : undefined
  if (architecture === undefined) return undefined
  const { audit, socket, ioctl, denied } = architecture
  const families = unixSockets ? deniedFamilies : [unixFamily, ...deniedFamilies]
  const ofSocket = checks(16, families)
  const ofIoctl = checks(24, deniedRequests)
  const numbers = [...denied, ...deniedEverywhere]
  // Distances are counted from the next instruction. At the end stand: the checks, `allow`, `refuse`.
  const afterNumbers = 2 + ofIoctl.length + 1 + ofSocket.length + 1
  const program: Instruction[] = [
    [load, 0, 0, 4],
    [jumpIfEqual, 0, numbers.length + 2 + afterNumbers, audit],
    [load, 0, 0, 0],
  ]
  program.push([jumpIfAtLeast, numbers.length + afterNumbers, 0, firstOfX32])
  for (const [index, number] of numbers.entries()) {
    program.push([jumpIfEqual, numbers.length - index - 1 + afterNumbers, 0, number])
  }
  program.push([jumpIfEqual, 1 + ofIoctl.length + 1, 0, socket])
  program.push([jumpIfEqual, 0, ofIoctl.length + 1 + ofSocket.length, ioctl])
  program.push(...withDistances(ofIoctl, 1 + ofSocket.length + 1))
  program.push([giveBack, 0, 0, allow])
  program.push(...withDistances(ofSocket, 1))
  program.push([giveBack, 0, 0, allow], [giveBack, 0, 0, refuseWithEperm])
  return encoded(program)
}

/** Loads an argument of the call, and compares it. */
function checks(offset: number, values: readonly number[]): readonly Instruction[] {
  return [[load, 0, 0, offset], ...values.map((value): Instruction => [jumpIfEqual, 0, 0, value])]
}

/** Lets each comparison that holds jump beyond the block and `after` more instructions. */
function withDistances(block: readonly Instruction[], after: number): Instruction[] {
  return block.map(([code, , , value], index) =>
    code === load ? [code, 0, 0, value] : [code, block.length - index - 1 + after, 0, value],
  )
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8))
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value, true)
  }
  return new Uint8Array(view.buffer)
}
