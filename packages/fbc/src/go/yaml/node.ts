// YAML nodes as written: aliases not resolved, scalars untyped.
import type { StringValue } from '../tree.ts'

/** StringValue is for scalars that are always text and have no anchor. */
export type YamlNode = ScalarNode | StringValue | CollectionNode | AliasNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly start: number
  readonly end: number
  readonly tag: string
  readonly value: string
  /** The type depends on the text: plain, or tagged with the lone `!`. */
  readonly implicit: boolean
  readonly anchor: string
}

export interface CollectionNode {
  readonly kind: 'list' | 'map'
  readonly start: number
  end: number
  readonly anchor: string
  /** Items; for a map key, value, key, value. */
  children: YamlNode[]
}

export interface AliasNode {
  readonly kind: 'alias'
  readonly start: number
  readonly end: number
  readonly name: string
  /** The last node before it with this anchor. */
  readonly target: ScalarNode | CollectionNode
}
