// Reading of untyped JSON: a field of the wanted type or nothing. Bundles come from strangers, so every step may fail.
import type { Json } from '../go/json/json.ts'
import type { Path } from './bundle-places.ts'

export type JsonObject = { readonly [key: string]: Json }

export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The value below a path of keys. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value
  for (const key of path) {
    const object = objectOf(current)
    current = Object.hasOwn(object, key) ? object[key] : undefined
  }
  return current
}

/** The path from a ClusterServiceVersion's root to a field of the pod that its deployment at `index` runs. */
export function podPath(index: number, ...field: Path): Path {
  return ['spec', 'install', 'spec', 'deployments', index, 'spec', 'template', 'spec', ...field]
}
