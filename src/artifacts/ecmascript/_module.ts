import type { AnyNode, Expression, Identifier, Literal, Pattern } from 'acorn'
import type { Lined, ModuleExport, ModuleImport } from './_outline.ts'
import type { TreeStep } from './_steps.ts'

type Unlined<Item extends Lined> = Omit<Item, keyof Lined>

/** Returns what a node takes from another module. */
export function importOf({ node, target }: TreeStep): Unlined<ModuleImport> | undefined {
  switch (node.type) {
    case 'ImportDeclaration': {
      const names = node.specifiers.map((each) => {
        if (each.type === 'ImportNamespaceSpecifier') return `* as ${each.local.name}`
        return withAlias(
          each.type === 'ImportDefaultSpecifier' ? 'default' : importedName(each.imported),
          each.local.name,
        )
      })
      return { from: String(node.source.value), names, kind: 'import' }
    }
    case 'ImportExpression':
      return isTextLiteral(node.source) ? { from: node.source.value, names: [], kind: 'import()' } : undefined
    case 'CallExpression': {
      const [from, ...others] = node.arguments
      if (!isNamed(node.callee, 'require') || from === undefined || !isTextLiteral(from) || others.length > 0)
        return undefined
      return { from: from.value, names: target === undefined ? [] : takenBy(target), kind: 'require' }
    }
    default:
      return undefined
  }
}

/** The names that a variable takes from what `require` returns. */
function takenBy(target: Pattern): string[] {
  if (target.type === 'Identifier') return [`* as ${target.name}`]
  if (target.type !== 'ObjectPattern') return []
  return target.properties.flatMap((each) => {
    if (each.type !== 'Property' || each.computed || each.key.type !== 'Identifier') return []
    const { name } = each.key
    return boundNames(each.value).map((local) => withAlias(name, local))
  })
}

/** Returns the names that a statement of the top level gives to other modules, also as CommonJS does it. */
export function exportsOf(statement: AnyNode): Unlined<ModuleExport>[] {
  switch (statement.type) {
    case 'ExportAllDeclaration': {
      const from = String(statement.source.value)
      return [statement.exported ? { ...exported(importedName(statement.exported), '*'), from } : { name: '*', from }]
    }
    case 'ExportDefaultDeclaration': {
      const { declaration } = statement
      const own = 'id' in declaration ? declaration.id : declaration
      return [exported('default', own?.type === 'Identifier' ? own.name : 'default')]
    }
    case 'ExportNamedDeclaration': {
      const { declaration, specifiers, source } = statement
      const from = source ? { from: String(source.value) } : undefined
      if (!declaration)
        return specifiers.map((each) => ({
          ...exported(importedName(each.exported), importedName(each.local)),
          ...from,
        }))
      if (declaration.type !== 'VariableDeclaration') return [{ name: declaration.id.name }]
      return declaration.declarations.flatMap(({ id }) => boundNames(id)).map((name) => ({ name }))
    }
    case 'ExpressionStatement':
      return ofCommonJs(statement.expression)
    default:
      return []
  }
}

/** `exports.a = …`, `module.exports = …` and what compilers write. */
function ofCommonJs(expression: Expression): Unlined<ModuleExport>[] {
  if (expression.type === 'CallExpression') {
    const [target, name] = expression.arguments
    const isDefined =
      isMember(expression.callee, 'Object', 'defineProperty') && target !== undefined && isExports(target)
    return isDefined && name !== undefined && isTextLiteral(name) ? [{ name: name.value }] : []
  }
  if (expression.type !== 'AssignmentExpression' || expression.operator !== '=') return []
  const { left, right } = expression
  const others = ofCommonJs(right)
  if (isExports(left)) {
    if (right.type !== 'ObjectExpression') return [{ name: 'module.exports' }, ...others]
    return right.properties.flatMap((each) => {
      if (each.type !== 'Property' || each.computed) return []
      const name = each.key.type === 'Identifier' ? each.key.name : isTextLiteral(each.key) ? each.key.value : undefined
      return name === undefined ? [] : [{ name }]
    })
  }
  if (left.type !== 'MemberExpression' || left.computed || left.property.type !== 'Identifier') return others
  return isExports(left.object) ? [{ name: left.property.name }, ...others] : others
}

function isExports(node: AnyNode): boolean {
  return isNamed(node, 'exports') || isMember(node, 'module', 'exports')
}

function isMember(node: AnyNode, object: string, property: string): boolean {
  return (
    node.type === 'MemberExpression' &&
    !node.computed &&
    isNamed(node.object, object) &&
    isNamed(node.property, property)
  )
}

function isNamed(node: AnyNode, name: string): boolean {
  return node.type === 'Identifier' && node.name === name
}

function isTextLiteral(node: AnyNode): node is Literal & { value: string } {
  return node.type === 'Literal' && typeof node.value === 'string'
}

function importedName(node: Identifier | Literal): string {
  return node.type === 'Identifier' ? node.name : String(node.value)
}

function withAlias(name: string, local: string): string {
  return name === local ? name : `${name} as ${local}`
}

function exported(name: string, local: string): Unlined<ModuleExport> {
  return name === local ? { name } : { name, local }
}

/** The names that a pattern declares. */
function boundNames(pattern: Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => boundNames(each.type === 'RestElement' ? each.argument : each.value))
    case 'ArrayPattern':
      return pattern.elements.flatMap((each) => (each === null ? [] : boundNames(each)))
    case 'RestElement':
      return boundNames(pattern.argument)
    case 'AssignmentPattern':
      return boundNames(pattern.left)
    default:
      return []
  }
}
