// Kubernetes' types from its OpenAPI document, parsed lazily.
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { kubernetesOpenApiJson } from './openapi.ts'

/** A definition's name, or a colon and a scalar type (`:string`, `:int32`, `:quantity`). `[type]` is a list. */
export type SchemaType =
  | string
  | readonly [SchemaType]
  | { readonly values: SchemaType }
  | { readonly fields: Readonly<Record<string, SchemaType>> }

export interface SchemaField {
  readonly type: SchemaType
  readonly isRequired: boolean
}

interface OpenApiDocument {
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, SchemaType>>
}

const parseOpenApiDocument = memoizeOnce(() => JSON.parse(kubernetesOpenApiJson) as OpenApiDocument)

/** Undefined for kinds and versions that aren't part of Kubernetes. */
export function findSchemaName(apiVersion: string, kind: string): string | undefined {
  const { kinds } = parseOpenApiDocument()
  const key = `${apiVersion} ${kind}`
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

export function resolveSchemaType(type: SchemaType): SchemaType {
  if (typeof type !== 'string' || type.startsWith(':')) return type
  const { definitions } = parseOpenApiDocument()
  return Object.hasOwn(definitions, type) ? resolveSchemaType(definitions[type] ?? ':any') : ':any'
}

/** By name. In the stored form, required fields end with an asterisk. */
export const parseSchemaFields = memoizePerObject(
  (fields: Readonly<Record<string, SchemaType>>): ReadonlyMap<string, SchemaField> =>
    new Map(
      Object.entries(fields).map(([name, type]): [string, SchemaField] =>
        name.endsWith('*')
          ? [name.slice(0, -1), { type, isRequired: true }]
          : [name, { type, isRequired: false }],
      ),
    ),
)
