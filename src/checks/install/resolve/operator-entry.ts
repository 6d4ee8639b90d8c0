import type { VersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { Version } from '@catalog-bot/fbc/versions/version'
import { type Json, getJsonStringField } from '@catalog-bot/fbc/go/json/json'

export interface OperatorProperty {
  readonly type: string
  readonly value: Json
}

export interface OperatorFacts {
  readonly name: string
  /** A catalog bundle lists its required APIs and packages twice, as in OLM. */
  readonly properties: readonly OperatorProperty[]
  /** The toApiKey of each `olm.gvk`, duplicates included. */
  readonly provided: readonly string[]
  /** From `olm.package`. */
  readonly packages: readonly { readonly name: string; readonly version?: Version }[]
  readonly labels: readonly string[]
  readonly isDeprecated: boolean
  /** Called late, because OLM fails on an invalid dependency. @throws ResolverError */
  readonly requirements: () => readonly BundleRequirement[]
}

export interface OperatorEntry {
  /** Undefined for an installed Operator. */
  readonly catalog: string | undefined
  readonly package: string
  /** Empty for an installed Operator. */
  readonly channel: string
  readonly isDefaultChannel: boolean
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: VersionRange | undefined
  readonly version: Version | undefined
  readonly facts: OperatorFacts
}

/** A condition that one other bundle must meet. */
export interface BundleRequirement {
  /** OLM's wording, such as "providing an API with group: ..., version: ..., kind: ...". */
  readonly text: string
  /** For display: `cert-manager.io/v1 Certificate` or `package foo >=1.0.0`. */
  readonly label: string
  /** Limits the search to bundles with this API or package. Absent if any bundle can match. */
  readonly only?: { readonly api: string } | { readonly package: string }
  isMetBy(entry: OperatorEntry): boolean
}

/** An error that makes OLM's resolution fail. OLM retries and installs nothing until the error is fixed. */
export class ResolverError extends Error {}

/** The separator cannot occur in a group, version or kind. */
export function toGvkKey(value: Json): string {
  return ['group', 'version', 'kind'].map((field) => getJsonStringField(value, field)).join('\0')
}

export function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
