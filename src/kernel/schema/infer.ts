import type { JsonSchema } from './standard.ts'

/** A Standard Schema, reduced to what inference needs: index access instead of `infer`, which is cheaper to check. */
export interface Typed<Types = { readonly input: unknown; readonly output: unknown }> {
  readonly '~standard': { readonly version: 1; readonly types?: Types | undefined }
}

/** Any Standard Schema, or a raw JSON Schema. */
export type Schema = Typed | JsonSchema

/** The input of a tool that takes no arguments. */
export type EmptyInput = Readonly<Record<never, never>>

/** The type that a caller may send. */
export type InputOf<S> = Sides<S>['input']

/** The type that validation returns: with defaults and after transforms. */
export type OutputOf<S> = Sides<S>['output']

// Interfaces: the type checker makes only the members that are used, but both branches of a conditional type.
type Sides<S> = S extends Typed ? NonNullable<S['~standard']['types']> : S extends undefined ? NoSides : JsonSides<S>
interface NoSides {
  readonly input: void
  readonly output: EmptyInput
}
interface JsonSides<S> {
  readonly input: FromJson<S>
  readonly output: FromJson<S>
}

/**
 * The type that a JSON Schema literal describes by `type`, `properties`, `required`, `items`, `enum`, `const` and unions. A
 * schema without such literal types, for example one from a file or the wire, describes any object.
 */
export type FromJson<S> = unknown extends ValueOf<S> ? Record<string, unknown> : ValueOf<S>

type ValueOf<S> = S extends { readonly static: infer Value; readonly params: readonly unknown[] }
  ? Value // TypeBox 0.34 carries its own type
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly anyOf: readonly (infer Branch)[] }
        ? ValueOf<Branch>
        : S extends { readonly oneOf: readonly (infer Branch)[] }
          ? ValueOf<Branch>
          : S extends { readonly type: infer Type }
            ? Type extends readonly (infer One)[]
              ? FromType<One, S>
              : FromType<Type, S>
            : S extends { readonly properties: object }
              ? FromType<'object', S>
              : unknown

type FromType<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? S extends { readonly items: infer Item }
            ? Item extends readonly unknown[]
              ? unknown[]
              : ValueOf<Item>[]
            : unknown[]
          : Type extends 'object'
            ? FromObject<S>
            : unknown

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Key)[] }
    ? Flat<
        { -readonly [Name in Extract<keyof Properties, Key>]: ValueOf<Properties[Name]> } & {
          -readonly [Name in Exclude<keyof Properties, Key>]?: ValueOf<Properties[Name]>
        }
      >
    : { -readonly [Name in keyof Properties]?: ValueOf<Properties[Name]> }
  : Record<string, unknown>

type Flat<Both> = { [Name in keyof Both]: Both[Name] }
