// An Operator as OLM's resolver sees it: a bundle in a channel of a catalog, or what is installed. Its words and types alone.
import type { VersionRange } from '../../../catalog/versions/version-range.ts'
import type { Version } from '../../../catalog/versions/version.ts'
import type { Json } from '../../../go/json/json.ts'
import { textField } from '../../../go/json/json-fields.ts'

export interface PropertyValue {
  readonly type: string
  readonly value: Json
}

/** What an Operator says of itself, whether a catalog offers it or it is installed. */
export interface OperatorFacts {
  readonly name: string
  /** As OLM holds them: required APIs and packages of a catalog's bundle stand there twice. */
  readonly properties: readonly PropertyValue[]
  /** APIs of `olm.gvk`, by apiKey, as often as they are listed. */
  readonly provided: readonly string[]
  /** Of `olm.package`. */
  readonly packages: readonly { readonly name: string; readonly version?: Version }[]
  readonly labels: readonly string[]
  readonly isDeprecated: boolean
  /** Every dependency; asked for late, for one that cannot be read makes OLM give up. Throws a ResolverError. */
  readonly requirements: () => readonly Requirement[]
}

export interface OperatorEntry {
  /** The catalog's name; undefined for what is installed. */
  readonly catalog: string | undefined
  readonly package: string
  /** '' for what is installed. */
  readonly channel: string
  readonly isDefaultChannel: boolean
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: VersionRange | undefined
  readonly version: Version | undefined
  readonly facts: OperatorFacts
}

/** One dependency of a bundle: what a single other bundle must be. */
export interface Requirement {
  /** OLM's words for it: "providing an API with group: ..., version: ..., kind: ...". */
  readonly text: string
  /** What only bundles with it can fulfil, so that others need not be asked; absent where any might. */
  readonly only?: { readonly api: string } | { readonly package: string }
  isMetBy(entry: OperatorEntry): boolean
}

/** What makes OLM give up altogether; it tries again, and nothing is installed in the meantime. */
export class ResolverError extends Error {}

/** One text for group, version and kind, which can hold anything but the character between them. */
export function apiKey(value: Json): string {
  return ['group', 'version', 'kind'].map((field) => textField(value, field)).join('\0')
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
