// Reads fields of untyped JSON. Bundles are untrusted, so every lookup can fail.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { FieldPath } from './manifest-document.ts'

export type JsonObject = { readonly [key: string]: Json }

export function asObjectOrEmpty(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

export function asListOrEmpty(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

export function asStringOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function getJsonFieldAtPath(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value
  for (const key of path) {
    const object = asObjectOrEmpty(current)
    current = Object.hasOwn(object, key) ? object[key] : undefined
  }
  return current
}

export function getObjectAtPath(value: Json | undefined, ...path: readonly string[]): JsonObject {
  return asObjectOrEmpty(getJsonFieldAtPath(value, ...path))
}

export function getListAtPath(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  return asListOrEmpty(getJsonFieldAtPath(value, ...path))
}

/** The entries of a list, each with its path. */
export function* listEntriesAtPath(
  value: Json | undefined,
  ...path: readonly string[]
): Generator<readonly [path: FieldPath, entry: Json]> {
  for (const [index, entry] of getListAtPath(value, ...path).entries()) yield [[...path, index], entry]
}

export function getStringAtPath(value: Json | undefined, ...path: readonly string[]): string {
  return asStringOrEmpty(getJsonFieldAtPath(value, ...path))
}

/** From the ClusterServiceVersion's root to a pod field of the deployment at `index`. */
export function getCsvPodSpecFieldPath(index: number, ...field: FieldPath): FieldPath {
  return ['spec', 'install', 'spec', 'deployments', index, 'spec', 'template', 'spec', ...field]
}
