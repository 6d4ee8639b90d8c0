// The nodes of a YAML document as written: aliases not followed, scalars without a type yet.
import type { StringValue } from '../tree.ts'

/** Of scalars that are sure to be text, and that nothing refers to, nothing is kept but their value. */
export type Node = ScalarNode | StringValue | CollectionNode | AliasNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly start: number
  readonly end: number
  readonly tag: string
  readonly value: string
  /** Its type may be read off its looks: plain, or tagged with the lone `!`. */
  readonly implicit: boolean
  readonly anchor: string
}

export interface CollectionNode {
  readonly kind: 'list' | 'map'
  readonly start: number
  end: number
  readonly anchor: string
  /** Items; of a map key, value, key, value. */
  children: Node[]
}

export interface AliasNode {
  readonly kind: 'alias'
  readonly start: number
  readonly end: number
  readonly name: string
  /** What it stands for: the node last anchored with its name before it. */
  readonly target: ScalarNode | CollectionNode
}
