// Converts YAML nodes to values like opm's JSON conversion. Uses its own stack. Aliases share values, so an alias bomb
// takes no more memory than its text.
import { quoteLikeGo } from '../text.ts'
import { type StringValue, type ParsedValue, MapBuilder, trimArraySpareCapacity } from '../tree.ts'
import {
  findInvalidJsonKeyError,
  findJsonConversionError,
  createInvalidMapKeyError,
  formatMapKeyAsGo,
  createUnsupportedMapKeyError,
  type NonStringKeysByMap,
} from './json-conversion.ts'
import type { AliasNode, CollectionNode, YamlNode, ScalarNode } from './token.ts'
import { type ResolvedScalar, formatScalarAsMapKey, resolveScalar, toScalarValue } from './resolve-scalar.ts'
import { YamlError } from './cursor.ts'

/** Aliases can provide 99% of the values up to this limit, and 10% from the second limit on (go-yaml's decode.go). */
const aliasRatioRangeLow = 400_000
const aliasRatioRangeHigh = 4_000_000

/** go-yaml's limit for documents that consist largely of aliases. */
class AliasBudget {
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

/** Throws a YamlError if go-yaml or the JSON conversion rejects the text. */
export function composeYamlDocument(root: YamlNode, repeated?: DuplicateKeyCollector): ParsedValue {
  return new YamlComposer(repeated).run(root)
}

/** Collects keys that are set twice in one map, even by merging, which go-yaml rejects in strict mode. */
export class DuplicateKeyCollector {
  /** The keys in Go's syntax; `at` is the offset of the later value. */
  readonly found: { readonly key: string; readonly at: number }[] = []
  private readonly seen = new Map<MapBuilder, Set<string>>()

  note(map: MapBuilder, key: string, at: number): void {
    let keys = this.seen.get(map)
    if (!keys) this.seen.set(map, (keys = new Set()))
    if (keys.has(key)) this.found.push({ key, at })
    keys.add(key)
  }
}

interface YamlComposeFrame {
  readonly node: CollectionNode
  /** `merge` writes into the map of the frame below; `merge-list` is a list of merges. */
  readonly purpose: 'value' | 'merge' | 'merge-list'
  readonly items: ParsedValue[]
  readonly map: MapBuilder
  at: number
  key: { readonly scalar: ResolvedScalar | StringValue; readonly node: YamlNode } | undefined
  /** Set if a key is not possible in JSON. */
  bad: YamlError | undefined
  readonly sizeBefore: number
  readonly inAlias: boolean
  height: number
  /** The value's non-text keys, by their text. */
  typed: Map<string, ResolvedScalar> | undefined
  lost: ConflictingKeyValues | undefined
}

/**
 * Values of keys with the same text but different types, such as `1` and `1.0`. go-yaml distinguishes them and converts
 * all of them to JSON before one wins.
 */
interface ConflictingKeyValues {
  readonly types: Map<string, ResolvedScalar['type']>
  readonly values: Map<string, ParsedValue>
}

/** A completed anchored collection. */
interface ComposedAnchorValue {
  readonly value: ParsedValue
  readonly size: number
  readonly height: number
}

const placeholderMapBuilder = new MapBuilder()

/** The limit of Go's encoding/json. */
const maxJsonDepth = 10_000

class YamlComposer {
  private readonly frames: YamlComposeFrame[] = []
  private readonly finished = new Map<YamlNode, ComposedAnchorValue>()
  private readonly open = new Set<YamlNode>()
  private readonly badKeys = new Map<ParsedValue, YamlError>()
  private readonly withoutBadKeys = new Set<ParsedValue>()
  private readonly typedKeys: NonStringKeysByMap = new Map()
  private readonly budget = new AliasBudget()
  private hasInfinite = false
  private result: ParsedValue | undefined
  private height = 0
  private readonly repeated: DuplicateKeyCollector | undefined

  constructor(repeated?: DuplicateKeyCollector) {
    this.repeated = repeated
  }

  run(root: YamlNode): ParsedValue {
    this.visit(root)
    for (;;) {
      const frame = this.frames[this.frames.length - 1]
      if (!frame) break
      this.advance(frame)
    }
    const value = this.result as ParsedValue
    if (this.repeated && this.repeated.found.length > 0) return value
    if (this.hasInfinite || this.badKeys.size > 0 || this.height > maxJsonDepth) {
      const rejection = findJsonConversionError(value, this.badKeys, maxJsonDepth)
      if (rejection) throw rejection
    }
    return value
  }

  private advance(frame: YamlComposeFrame): void {
    const { children } = frame.node
    if (frame.purpose === 'merge-list') {
      // Backwards, so that earlier maps overwrite later ones.
      if (frame.at === 0) {
        this.frames.pop()
        this.open.delete(frame.node)
      } else this.mergeItem(children[--frame.at] as YamlNode, frame)
      return
    }
    if (frame.at >= children.length) return this.finish(frame)
    const child = children[frame.at++] as YamlNode
    if (frame.node.kind === 'list' || frame.key) return this.visit(child)
    if (isMergeKey(child)) return this.merge(children[frame.at++] as YamlNode, frame)
    const scalar = child.kind === 'alias' ? child.target : child
    if (scalar.kind !== 'scalar' && scalar.kind !== 'string') return this.visit(child)
    this.budget.count(child)
    if (child.kind === 'alias') this.budget.countAliased(child, 1)
    frame.key = { scalar: scalar.kind === 'scalar' ? resolveScalar(scalar) : scalar, node: child }
  }

  private visit(node: YamlNode): void {
    this.budget.count(node)
    if (node.kind === 'alias') return this.follow(node)
    if (node.kind === 'string') return this.deliver(node, node, 0)
    if (node.kind === 'scalar') return this.deliver(this.scalarValue(node), node, 0)
    this.push(node, 'value', node.kind === 'map' ? new MapBuilder() : placeholderMapBuilder, false)
  }

  private follow(alias: AliasNode): void {
    const { target } = alias
    if (target.kind === 'scalar') {
      this.budget.countAliased(alias, 1)
      return this.deliver(this.scalarValue(target), alias, 0)
    }
    const finished = this.finishedTarget(alias)
    if (finished) return this.deliver(finished.value, alias, finished.height)
    this.budget.enterAlias()
    this.budget.count(target)
    this.push(target, 'value', target.kind === 'map' ? new MapBuilder() : placeholderMapBuilder, true)
  }

  /** Counts an alias and returns its collection; undefined if it was only ever merged. */
  private finishedTarget(alias: AliasNode): ComposedAnchorValue | undefined {
    if (this.open.has(alias.target)) {
      throw new YamlError(`yaml: anchor '${alias.name}' value contains itself`, alias.start)
    }
    const finished = this.finished.get(alias.target)
    if (finished) this.budget.countAliased(alias, finished.size)
    return finished
  }

  private scalarValue(node: ScalarNode): ParsedValue {
    const value = toScalarValue(resolveScalar(node), node)
    if (value.kind === 'number' && !Number.isFinite(value.value)) this.hasInfinite = true
    return value
  }

  private merge(node: YamlNode, frame: YamlComposeFrame): void {
    if (node.kind === 'list') {
      this.push(node, 'merge-list', frame.map, false)
      const list = this.frames[this.frames.length - 1] as YamlComposeFrame
      list.at = node.children.length
    } else this.mergeItem(node, frame)
  }

  private mergeItem(node: YamlNode, into: YamlComposeFrame): void {
    const target = node.kind === 'alias' ? node.target : node
    if (target.kind !== 'map') {
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value', node.start)
    }
    this.budget.count(node)
    if (node.kind !== 'alias') return this.push(target, 'merge', into.map, false)
    const finished = this.finishedTarget(node)
    if (!finished) {
      this.budget.enterAlias()
      this.budget.count(target)
      return this.push(target, 'merge', into.map, true)
    }
    const owner = this.owner()
    owner.height = Math.max(owner.height, finished.height - 1)
    owner.bad ??= this.badKeys.get(finished.value)
    const typed = this.typedKeys.get(finished.value)
    if (typed) owner.typed = new Map([...(owner.typed ?? []), ...typed])
    if (finished.value.kind !== 'map') return
    for (const entry of finished.value.entries) {
      this.repeated?.note(into.map, quoteLikeGo(entry.key), entry.value.start)
      into.map.set(entry.key, entry.keyStart, entry.keyEnd, entry.value, true)
    }
  }

  /** The frame that the innermost merges write into. */
  private owner(): YamlComposeFrame {
    let at = this.frames.length - 1
    while (this.frames[at]?.purpose !== 'value') at--
    return this.frames[at] as YamlComposeFrame
  }

  private push(
    node: CollectionNode,
    purpose: YamlComposeFrame['purpose'],
    map: MapBuilder,
    inAlias: boolean,
  ): void {
    if (node.anchor !== '') this.open.add(node)
    this.frames.push({
      node,
      purpose,
      items: [],
      map,
      at: 0,
      key: undefined,
      bad: undefined,
      sizeBefore: this.budget.decoded - 1,
      inAlias,
      height: 0,
      typed: undefined,
      lost: undefined,
    })
  }

  private finish(frame: YamlComposeFrame): void {
    const { node } = frame
    this.frames.pop()
    if (node.anchor !== '') this.open.delete(node)
    if (frame.inAlias) this.budget.leaveAlias()
    if (frame.purpose !== 'value') {
      const owner = this.owner()
      owner.height = Math.max(owner.height, frame.height)
      owner.bad ??= frame.bad
      return
    }
    const value: ParsedValue =
      node.kind === 'map'
        ? frame.map.build(node.start, node.end)
        : { kind: 'list', start: node.start, end: node.end, items: trimArraySpareCapacity(frame.items) }
    const height = frame.height + 1
    if (this.badKeys.size > 0)
      for (const lost of frame.lost?.values.values() ?? [])
        frame.bad ??= findInvalidJsonKeyError(lost, this.badKeys, this.withoutBadKeys)
    if (frame.bad) this.badKeys.set(value, frame.bad)
    if (frame.typed) this.typedKeys.set(value, frame.typed)
    if (node.anchor !== '') {
      this.finished.set(node, { value, size: this.budget.decoded - frame.sizeBefore, height })
    }
    this.deliver(value, node, height)
  }

  private deliver(value: ParsedValue, node: YamlNode, height: number): void {
    const frame = this.frames[this.frames.length - 1]
    if (!frame) {
      this.result = value
      this.height = height
      return
    }
    frame.height = Math.max(frame.height, height)
    if (frame.node.kind === 'list') {
      frame.items.push(value)
      return
    }
    const { key } = frame
    if (!key) throw createInvalidMapKeyError(value, this.typedKeys, node.start)
    frame.key = undefined
    const { scalar } = key
    const { start, end } = key.node
    const isMerge = frame.purpose === 'merge'
    if ('kind' in scalar) {
      this.repeated?.note(frame.map, quoteLikeGo(scalar.value), node.start)
      const before = frame.map.set(scalar.value, start, end, value, isMerge)
      if (before)
        this.recordOverwritten(scalar.value, 'str', this.owner().typed?.get(scalar.value)?.type, before)
      return
    }
    const text = formatScalarAsMapKey(scalar)
    this.repeated?.note(frame.map, formatMapKeyAsGo(scalar), node.start)
    if (text === undefined) {
      frame.bad ??= createUnsupportedMapKeyError(scalar, value, this.typedKeys, start)
      return
    }
    const before = frame.map.set(text, start, end, value, isMerge)
    const owner = this.owner()
    if (before) this.recordOverwritten(text, scalar.type, owner.typed?.get(text)?.type, before)
    if (scalar.type !== 'str') (owner.typed ??= new Map()).set(text, scalar)
  }

  /** `before` is the earlier value of the text, `typeBefore` the type of its key if not text. */
  private recordOverwritten(
    text: string,
    type: ResolvedScalar['type'],
    typeBefore: ResolvedScalar['type'] = 'str',
    before: ParsedValue,
  ): void {
    const owner = this.owner()
    owner.lost ??= { types: new Map(), values: new Map() }
    const { types, values } = owner.lost
    const was = types.get(text) ?? typeBefore
    types.set(text, type)
    values.delete(`${type} ${text}`)
    if (was !== type) values.set(`${was} ${text}`, before)
  }
}

function isMergeKey(node: YamlNode): boolean {
  return (
    node.kind === 'scalar' && node.value === '<<' && (node.implicit || node.tag === 'tag:yaml.org,2002:merge')
  )
}

function getAllowedAliasRatio(decoded: number): number {
  if (decoded <= aliasRatioRangeLow) return 0.99
  if (decoded >= aliasRatioRangeHigh) return 0.1
  return 0.99 - 0.89 * ((decoded - aliasRatioRangeLow) / (aliasRatioRangeHigh - aliasRatioRangeLow))
}
