// Kubernetes' types from its OpenAPI document, parsed on demand.
import { once, oncePer } from '../../findings/once.ts'
import { openapi } from './openapi.ts'

/** A definition's name, or a plain type after a colon (`:string`, `:int32`, `:quantity`); `[type]` is a list. */
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

/** Undefined for kinds and versions that aren't part of Kubernetes. */
export function typeOfKind(apiVersion: string, kind: string): string | undefined {
  const { kinds } = document()
  const key = `${apiVersion} ${kind}`
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

export function resolveType(type: WrittenType): WrittenType {
  if (typeof type !== 'string' || type.startsWith(':')) return type
  const { definitions } = document()
  return Object.hasOwn(definitions, type) ? resolveType(definitions[type] ?? ':any') : ':any'
}

/** By name; in the stored form, required fields end in an asterisk. */
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
