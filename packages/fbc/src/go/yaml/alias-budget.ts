// go-yaml's limit for documents that consist largely of aliases.
import type { YamlNode } from './node.ts'
import { YamlError } from './yaml-error.ts'

/** Up to here 99% may come from aliases, from the second limit on 10% (go-yaml's decode.go). */
const aliasRatioRangeLow = 400_000
const aliasRatioRangeHigh = 4_000_000

export class AliasBudget {
  /** Includes the document itself. */
  decoded = 1
  private aliased = 0
  private depth = 0

  /** Throws if too many of all nodes so far came from aliases. */
  count(node: YamlNode): void {
    this.decoded++
    if (this.depth > 0) {
      this.aliased++
      this.check(node)
    } else if (this.aliased > 100) this.check(node)
  }

  /** Counts the `size` nodes of an alias whose value is already known. */
  countAliased(alias: YamlNode, size: number): void {
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

  private check(node: YamlNode): void {
    const { aliased, decoded } = this
    if (aliased > 100 && decoded > 1000 && aliased / decoded > getAllowedAliasRatio(decoded)) {
      throw new YamlError('yaml: document contains excessive aliasing', node.start)
    }
  }
}

function getAllowedAliasRatio(decoded: number): number {
  if (decoded <= aliasRatioRangeLow) return 0.99
  if (decoded >= aliasRatioRangeHigh) return 0.1
  return 0.99 - 0.89 * ((decoded - aliasRatioRangeLow) / (aliasRatioRangeHigh - aliasRatioRangeLow))
}
