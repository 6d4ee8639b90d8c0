// Kubernetes' types as its OpenAPI document gives them, read when somebody asks for one.
import { once, oncePer } from '../../findings/once.ts'
import { openapi } from './openapi.ts'

/**
 * How a value's type is written: a text names a definition, or a plain type behind a colon (`:string`, `:int32`,
 * `:quantity`); a list of one is a list of that.
 */
export type WrittenType =
  | string
  | readonly [WrittenType]
  | { readonly values: WrittenType }
  | { readonly fields: Readonly<Record<string, WrittenType>> }

export interface Field {
  readonly type: WrittenType
  readonly isRequired: boolean
}

interface Document {
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, WrittenType>>
}

const document = once(() => JSON.parse(openapi) as Document)

/** The type of objects of a kind; undefined for kinds that Kubernetes itself does not have in that version. */
export function typeOfKind(apiVersion: string, kind: string): string | undefined {
  const { kinds } = document()
  const key = `${apiVersion} ${kind}`
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

/** The type behind a name; plain and composed types are what they are. */
export function resolveType(type: WrittenType): WrittenType {
  if (typeof type !== 'string' || type.startsWith(':')) return type
  const { definitions } = document()
  return Object.hasOwn(definitions, type) ? resolveType(definitions[type] ?? ':any') : ':any'
}

/** The fields of a struct by name; in the written form those that must be there end in an asterisk. */
export const fieldsOf = oncePer(
  (fields: Readonly<Record<string, WrittenType>>): ReadonlyMap<string, Field> =>
    new Map(
      Object.entries(fields).map(([name, type]): [string, Field] =>
        name.endsWith('*')
          ? [name.slice(0, -1), { type, isRequired: true }]
          : [name, { type, isRequired: false }],
      ),
    ),
)
