import type { AnyNode, Class, Function, Pattern } from 'acorn'

/** A node on the way through a tree. */
export interface TreeStep {
  readonly node: AnyNode
  /** The names of what is around the node, with a dot at the end. */
  readonly prefix: string
  /** The name that the node gets from what it is the value of. */
  readonly name?: string | undefined
  readonly kind?: 'function' | 'constructor' | 'method' | 'getter' | 'setter'
  /** What the node is assigned to, if it is the value of a variable. */
  readonly target?: Pattern
}

const longestStepName = 200

export function isFunctionNode(node: AnyNode): node is AnyNode & (Function | Class) {
  return /^(?:Function|Class|ArrowFunction)(?:Declaration|Expression)$/.test(node.type)
}

/** Returns the full name of a node that is a function, a class or an object, if it has one. */
export function fullName({ node, prefix, name }: TreeStep): string | undefined {
  const own = name ?? (isFunctionNode(node) && 'id' in node ? node.id?.name : undefined)
  if (own === undefined || !(isFunctionNode(node) || node.type === 'ObjectExpression')) return undefined
  return (prefix + own).slice(-longestStepName)
}

/** Returns the nodes directly below one, in order. @param full The full name of that one, if it has one. */
export function stepsBelow({ node, prefix }: TreeStep, full: string | undefined, text: string): TreeStep[] {
  switch (node.type) {
    case 'VariableDeclarator': {
      const [target, ...value] = stepsFrom(prefix, [node.id], [node.init, nameIn(node.id, text)])
      return [target!, ...value.map((step) => ({ ...step, target: node.id }))]
    }
    case 'AssignmentExpression':
      return stepsFrom(prefix, [node.left], [node.right, nameIn(node.left, text)])
    case 'ExportDefaultDeclaration': {
      const { declaration } = node
      return stepsFrom(prefix, [declaration, ('id' in declaration && declaration.id?.name) || 'default'])
    }
    case 'Property':
    case 'PropertyDefinition':
    case 'MethodDefinition': {
      const kind = node.type === 'PropertyDefinition' ? 'function' : methodKinds[node.kind]
      const [key, ...value] = stepsFrom(prefix, [node.key], [node.value, keyName(node, text)])
      return [key!, ...value.map((step) => ({ ...step, kind }))]
    }
    default: {
      const below = full === undefined ? prefix : `${full}.`
      return childrenOf(node).map((child) => ({ node: child, prefix: below }))
    }
  }
}

const methodKinds = {
  constructor: 'constructor',
  method: 'method',
  get: 'getter',
  set: 'setter',
  init: 'function',
} as const

function stepsFrom(
  prefix: string,
  ...parts: readonly (readonly [AnyNode | null | undefined, name?: string | undefined])[]
): TreeStep[] {
  return parts.flatMap(([node, name]) => (node ? [{ node, prefix, name }] : []))
}

/** The name that a variable or a member gives to its value, such as `load` or `api.load`. */
function nameIn(target: AnyNode, text: string): string | undefined {
  if (target.type === 'Identifier') return target.name
  if (target.type !== 'MemberExpression' || target.computed || target.end - target.start > longestStepName)
    return undefined
  return text.slice(target.start, target.end).replace(/\s+/g, '')
}

function keyName({ key, computed }: { readonly key: AnyNode; readonly computed: boolean }, text: string): string {
  if (computed) return `[${text.slice(key.start, Math.min(key.end, key.start + longestStepName))}]`
  if (key.type === 'Identifier') return key.name
  if (key.type === 'PrivateIdentifier') return `#${key.name}`
  return key.type === 'Literal' ? String(key.value) : ''
}

function childrenOf(node: AnyNode): AnyNode[] {
  const values: unknown[] = Object.values(node)
  return values
    .flat()
    .filter((value): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value)
}
