/** The numbers of one architecture. */
interface Architecture {
  readonly audit: number
  readonly socket: number
  readonly ioctl: number
  readonly prctl: number
  readonly denied: readonly number[]
}

// In the order: ptrace, process_vm_readv, process_vm_writev, keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, mount,
// umount2, pivot_root, setns, init_module, finit_module, delete_module, kexec_load, open_by_handle_at.
const x64: Architecture = {
  audit: 0xc000003e,
  socket: 41,
  ioctl: 16,
  prctl: 157,
  denied: [101, 310, 311, 250, 248, 249, 321, 298, 323, 165, 166, 155, 308, 175, 313, 176, 246, 304],
}
const arm64: Architecture = {
  audit: 0xc00000b7,
  socket: 198,
  ioctl: 29,
  prctl: 167,
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

const setSignalOfParentsDeath = 1
const sigkill = 9

const loadInstruction = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const returnInstruction = 0x06
const allowAction = 0x7fff0000
const refusedWithEperm = 0x00050001
/** The call does nothing, and its program believes that it did. */
const pretended = 0x00050000
const firstOfX32 = 0x40000000
// Where the data of a call has its number, its architecture and its arguments.
const ofNumber = 0
const ofArchitecture = 4
const [firstOffset, secondOffset] = [16, 24]

/** An instruction, with the labels to which it jumps. Default: the next instruction. */
type Instruction = readonly [code: number, value: number, ifTrue?: string, ifFalse?: string]

/**
 * Returns the program of a seccomp filter that refuses what a sandboxed command has no use for, with EPERM. No process of the
 * sandbox can outlive the one that set it up, by telling the kernel that it does not want to end with it.
 *
 * @param unixSockets Whether sockets of the file system may be opened. Pairs of sockets always may.
 * @returns For an architecture whose numbers are not known, a filter that allows everything.
 */
export function seccompFilter(unixSockets: boolean, name: string = process.arch): Uint8Array {
  const architecture = name === 'x64' ? x64 : name === 'arm64' ? arm64 : undefined
  if (architecture === undefined) return encodedProgram([[returnInstruction, allowAction]])
  const { audit, socket, ioctl, prctl, denied } = architecture
  const families = unixSockets ? deniedFamilies : [unixFamily, ...deniedFamilies]
  const refuseIf = (value: number): Instruction => [jumpIfEqual, value, 'refuse']
  return encodedProgram([
    [loadInstruction, ofArchitecture],
    [jumpIfEqual, audit, 'known', 'refuse'],
    'known',
    [loadInstruction, ofNumber],
    [jumpIfAtLeast, firstOfX32, 'refuse'],
    ...[...denied, ...deniedEverywhere].map(refuseIf),
    [jumpIfEqual, socket, 'socket'],
    [jumpIfEqual, ioctl, 'ioctl'],
    [jumpIfEqual, prctl, 'prctl', 'allow'],
    'socket',
    [loadInstruction, firstOffset],
    ...families.map(refuseIf),
    [returnInstruction, allowAction],
    'ioctl',
    [loadInstruction, secondOffset],
    ...deniedRequests.map(refuseIf),
    [returnInstruction, allowAction],
    'prctl',
    [loadInstruction, firstOffset],
    [jumpIfEqual, setSignalOfParentsDeath, 'death', 'allow'],
    'death',
    [loadInstruction, secondOffset],
    [jumpIfEqual, sigkill, 'allow'],
    [returnInstruction, pretended],
    'allow',
    [returnInstruction, allowAction],
    'refuse',
    [returnInstruction, refusedWithEperm],
  ])
}

/** @param program Instructions, and the labels of those that follow them. */
function encodedProgram(program: readonly (Instruction | string)[]): Uint8Array {
  const instructions: Instruction[] = []
  const labels = new Map<string, number>()
  for (const each of program) {
    if (typeof each === 'string') labels.set(each, instructions.length)
    else instructions.push(each)
  }
  const view = new DataView(new ArrayBuffer(instructions.length * 8))
  for (const [index, [code, value, ...jumps]] of instructions.entries()) {
    view.setUint16(index * 8, code, true)
    for (const [which, label] of jumps.entries()) {
      // Distances are counted from the next instruction.
      if (label !== undefined) view.setUint8(index * 8 + 2 + which, (labels.get(label) ?? 0) - index - 1)
    }
    view.setUint32(index * 8 + 4, value, true)
  }
  return new Uint8Array(view.buffer)
}
