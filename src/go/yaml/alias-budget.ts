// go-yaml's limit for documents that consist largely of aliases.
import type { Node } from './node.ts'
import { YamlError } from './yaml-error.ts'

/** Up to here 99% may come from aliases, from the second limit on 10% (go-yaml's decode.go). */
const lenientUpTo = 400_000
const strictFrom = 4_000_000

export class AliasBudget {
  /** Includes the document itself. */
  decoded = 1
  private aliased = 0
  private depth = 0

  /** Throws if too many of all nodes so far came from aliases. */
  count(node: Node): void {
    this.decoded++
    if (this.depth > 0) {
      this.aliased++
      this.check(node)
    } else if (this.aliased > 100) this.check(node)
  }

  /** Counts the `size` nodes of an alias whose value is already known. */
  countAliased(alias: Node, size: number): void {
    this.decoded += size
    this.aliased += size
    this.check(alias)
  }

  enterAlias(): void {
    this.depth++
  }

  leaveAlias(): void {
    this.depth--
  }

  private check(node: Node): void {
    const { aliased, decoded } = this
    if (aliased > 100 && decoded > 1000 && aliased / decoded > allowedShare(decoded)) {
      throw new YamlError('yaml: document contains excessive aliasing', node.start)
    }
  }
}

function allowedShare(decoded: number): number {
  if (decoded <= lenientUpTo) return 0.99
  if (decoded >= strictFrom) return 0.1
  return 0.99 - 0.89 * ((decoded - lenientUpTo) / (strictFrom - lenientUpTo))
}
