// Parses YAML tokens into the first document's nodes. Uses its own stack, so nesting cannot overflow the call stack.
import type { YamlToken, YamlTokenKind, AliasNode, CollectionNode, YamlNode, ScalarNode } from './token.ts'
import { trimArraySpareCapacity } from '../tree.ts'
import { resolvePlainScalar } from './resolve-scalar.ts'
import type { YamlScanner } from './scanner.ts'
import { YamlError, createParserError } from './cursor.ts'

const yamlTagPrefix = 'tag:yaml.org,2002:'

interface YamlParserFrame {
  step: YamlParserState
  readonly node: CollectionNode
}

type YamlParserState =
  | 'block-sequence-entry'
  | 'indentless-sequence-entry'
  | 'block-mapping-key'
  | 'block-mapping-value'
  | 'flow-sequence-first'
  | 'flow-sequence-entry'
  | 'pair-key'
  | 'pair-value'
  | 'pair-end'
  | 'flow-mapping-first'
  | 'flow-mapping-key'
  | 'flow-mapping-value'
  | 'flow-mapping-no-value'

const collectionTypeByOpeningToken: Partial<
  Record<
    YamlTokenKind,
    { readonly node: 'list' | 'map'; readonly step: YamlParserState; readonly inBlockOnly: boolean }
  >
> = {
  'flow-sequence-start': { node: 'list', step: 'flow-sequence-first', inBlockOnly: false },
  'flow-mapping-start': { node: 'map', step: 'flow-mapping-first', inBlockOnly: false },
  'block-sequence-start': { node: 'list', step: 'block-sequence-entry', inBlockOnly: true },
  'block-mapping-start': { node: 'map', step: 'block-mapping-key', inBlockOnly: true },
}

export interface ParsedYamlDocument {
  readonly root: YamlNode | undefined
  /** The token after the document: unless the stream ends, go-yaml ignores the text from here. */
  readonly next: YamlToken
}

/** Throws a YamlError at the first invalid token. */
export function parseYamlNodeTree(scanner: YamlScanner): ParsedYamlDocument {
  return new YamlParser(scanner).run()
}

class YamlParser {
  private readonly scanner: YamlScanner
  private readonly frames: YamlParserFrame[] = []
  private readonly anchors = new Map<string, ScalarNode | CollectionNode>()
  private readonly handles = new Map<string, string>()
  private root: YamlNode | undefined

  constructor(scanner: YamlScanner) {
    this.scanner = scanner
  }

  run(): ParsedYamlDocument {
    const token = this.scanner.peek()
    if (token.kind === 'stream-end') return { root: undefined, next: token }
    if (token.kind === 'directive' || token.kind === 'document-start') this.startExplicitly()
    else this.readDirectives()
    if (!this.root) this.parseNode(true, false)
    for (;;) {
      const frame = this.frames[this.frames.length - 1]
      if (!frame) break
      this.advance(frame)
    }
    // go-yaml looks for the end of the document, so one more token must be readable.
    return { root: this.root, next: this.scanner.peek() }
  }

  private startExplicitly(): void {
    this.readDirectives()
    const start = this.scanner.peek()
    if (start.kind !== 'document-start')
      throw createParserError('did not find expected <document start>', start)
    this.scanner.take()
    const next = this.scanner.peek()
    if (isTokenOfKind(next, 'directive', 'document-start', 'document-end', 'stream-end'))
      this.addEmpty(next.index)
  }

  private readDirectives(): void {
    let hasVersion = false
    for (;;) {
      const token = this.scanner.peek()
      const directive = token.directive
      if (!directive) break
      if (directive.name === 'YAML') {
        if (hasVersion) throw createParserError('found duplicate %YAML directive', token)
        hasVersion = true
        if (directive.major !== 1 || directive.minor !== 1) {
          throw createParserError('found incompatible YAML document', token)
        }
      } else {
        if (this.handles.has(directive.handle))
          throw createParserError('found duplicate %TAG directive', token)
        this.handles.set(directive.handle, directive.prefix)
      }
      this.scanner.take()
    }
    if (!this.handles.has('!')) this.handles.set('!', '!')
    if (!this.handles.has('!!')) this.handles.set('!!', yamlTagPrefix)
  }

  private advance(frame: YamlParserFrame): void {
    switch (frame.step) {
      case 'block-sequence-entry':
        return this.blockSequenceEntry()
      case 'indentless-sequence-entry':
        return this.indentlessSequenceEntry()
      case 'block-mapping-key':
        return this.blockMappingKey(frame)
      case 'block-mapping-value':
        return this.blockMappingValue(frame)
      case 'flow-sequence-first':
      case 'flow-sequence-entry':
        return this.flowSequenceEntry(frame)
      case 'pair-key':
        return this.pairKey(frame)
      case 'pair-value':
        return this.pairValue(frame)
      case 'pair-end':
        return this.close(this.scanner.peek().index)
      case 'flow-mapping-first':
      case 'flow-mapping-key':
        return this.flowMappingKey(frame)
      case 'flow-mapping-value':
        return this.flowMappingValue(frame)
      case 'flow-mapping-no-value':
        frame.step = 'flow-mapping-key'
        return this.addEmpty(this.scanner.peek().index)
    }
  }

  private blockSequenceEntry(): void {
    const token = this.scanner.peek()
    if (token.kind === 'block-entry') {
      this.scanner.take()
      if (isTokenOfKind(this.scanner.peek(), 'block-entry', 'block-end')) this.addEmpty(token.end)
      else this.parseNode(true, false)
    } else if (token.kind === 'block-end') {
      this.scanner.take()
      this.close()
    } else {
      throw createParserError("did not find expected '-' indicator", token)
    }
  }

  private indentlessSequenceEntry(): void {
    const token = this.scanner.peek()
    if (token.kind !== 'block-entry') return this.close()
    this.scanner.take()
    if (isTokenOfKind(this.scanner.peek(), 'block-entry', 'key', 'value', 'block-end'))
      this.addEmpty(token.end)
    else this.parseNode(true, false)
  }

  private blockMappingKey(frame: YamlParserFrame): void {
    const token = this.scanner.peek()
    if (token.kind === 'key') {
      frame.step = 'block-mapping-value'
      this.scanner.take()
      if (isTokenOfKind(this.scanner.peek(), 'key', 'value', 'block-end')) this.addEmpty(token.end)
      else this.parseNode(true, true)
    } else if (token.kind === 'block-end') {
      this.scanner.take()
      this.close()
    } else {
      throw createParserError('did not find expected key', token)
    }
  }

  private blockMappingValue(frame: YamlParserFrame): void {
    const token = this.scanner.peek()
    frame.step = 'block-mapping-key'
    if (token.kind !== 'value') return this.addEmpty(token.index)
    this.scanner.take()
    if (isTokenOfKind(this.scanner.peek(), 'key', 'value', 'block-end')) this.addEmpty(token.end)
    else this.parseNode(true, true)
  }

  private flowSequenceEntry(frame: YamlParserFrame): void {
    let token = this.scanner.peek()
    if (token.kind !== 'flow-sequence-end') {
      if (frame.step === 'flow-sequence-entry') {
        if (token.kind !== 'flow-entry') {
          throw createParserError("did not find expected ',' or ']'", token)
        }
        this.scanner.take()
        token = this.scanner.peek()
      }
      frame.step = 'flow-sequence-entry'
      if (token.kind === 'key') {
        // `[a: b]` is a list that contains a map with one pair.
        this.scanner.take()
        return this.open('map', 'pair-key', token.index, '')
      }
      if (token.kind !== 'flow-sequence-end') return this.parseNode(false, false)
    }
    this.scanner.take()
    this.close(token.end)
  }

  private pairKey(frame: YamlParserFrame): void {
    const token = this.scanner.peek()
    frame.step = 'pair-value'
    if (!isTokenOfKind(token, 'value', 'flow-entry', 'flow-sequence-end')) return this.parseNode(false, false)
    // libyaml drops the token that ended the empty key, regardless of its kind.
    this.scanner.take()
    this.addEmpty(token.end)
  }

  private pairValue(frame: YamlParserFrame): void {
    let token = this.scanner.peek()
    frame.step = 'pair-end'
    if (token.kind === 'value') {
      this.scanner.take()
      token = this.scanner.peek()
      if (!isTokenOfKind(token, 'flow-entry', 'flow-sequence-end')) return this.parseNode(false, false)
    }
    this.addEmpty(token.index)
  }

  private flowMappingKey(frame: YamlParserFrame): void {
    let token = this.scanner.peek()
    if (token.kind !== 'flow-mapping-end') {
      if (frame.step === 'flow-mapping-key') {
        if (token.kind !== 'flow-entry') {
          throw createParserError("did not find expected ',' or '}'", token)
        }
        this.scanner.take()
        token = this.scanner.peek()
      }
      if (token.kind === 'key') {
        frame.step = 'flow-mapping-value'
        this.scanner.take()
        token = this.scanner.peek()
        if (isTokenOfKind(token, 'value', 'flow-entry', 'flow-mapping-end')) return this.addEmpty(token.index)
        return this.parseNode(false, false)
      }
      if (token.kind !== 'flow-mapping-end') {
        frame.step = 'flow-mapping-no-value'
        return this.parseNode(false, false)
      }
    }
    this.scanner.take()
    this.close(token.end)
  }

  private flowMappingValue(frame: YamlParserFrame): void {
    let token = this.scanner.peek()
    frame.step = 'flow-mapping-key'
    if (token.kind === 'value') {
      this.scanner.take()
      token = this.scanner.peek()
      if (!isTokenOfKind(token, 'flow-entry', 'flow-mapping-end')) return this.parseNode(false, false)
    }
    this.addEmpty(token.index)
  }

  private parseNode(inBlock: boolean, mayBeIndentless: boolean): void {
    let token = this.scanner.peek()
    if (token.kind === 'alias') {
      this.scanner.take()
      return this.addAlias(token)
    }
    const start = token
    let anchor = ''
    let tagToken: YamlToken | undefined
    while ((token.kind === 'anchor' && anchor === '') || (token.kind === 'tag' && !tagToken)) {
      if (token.kind === 'anchor') anchor = token.value
      else tagToken = token
      this.scanner.take()
      token = this.scanner.peek()
    }
    const tag = tagToken ? this.resolveTag(tagToken) : ''

    const { kind, index } = token
    if (kind === 'scalar') {
      this.scanner.take()
      const { value, end } = token
      if (tag === '' && anchor === '' && (!token.plain || isPlainScalarString(value)))
        return this.put({ kind: 'string', start: index, end, value, quoted: !token.plain })
      const implicit = tag === '!' || (token.plain && tag === '')
      return this.add({ kind, start: index, end, tag, value, implicit, anchor })
    }
    if (kind === 'block-entry' && mayBeIndentless) {
      return this.open('list', 'indentless-sequence-entry', index, anchor)
    }
    const opening = collectionTypeByOpeningToken[kind]
    if (opening && (inBlock || !opening.inBlockOnly)) {
      this.scanner.take()
      return this.open(opening.node, opening.step, index, anchor)
    }
    if (anchor === '' && !tagToken) throw createParserError('did not find expected node content', token)
    this.add({
      kind: 'scalar',
      start: start.index,
      end: start.end,
      tag,
      value: '',
      implicit: tag === '',
      anchor,
    })
  }

  private resolveTag(token: YamlToken): string {
    if (token.handle === '') return token.value
    const prefix = this.handles.get(token.handle)
    if (prefix === undefined) throw createParserError('found undefined tag handle', token)
    return prefix + token.value
  }

  private addAlias(token: YamlToken): void {
    const target = this.anchors.get(token.value)
    if (!target) throw new YamlError(`yaml: unknown anchor '${token.value}' referenced`, token.index)
    const alias: AliasNode = { kind: 'alias', start: token.index, end: token.end, name: token.value, target }
    this.put(alias)
  }

  private addEmpty(at: number): void {
    this.add({ kind: 'scalar', start: at, end: at, tag: '', value: '', implicit: true, anchor: '' })
  }

  private add(node: ScalarNode | CollectionNode): void {
    if (node.anchor !== '') this.anchors.set(node.anchor, node)
    this.put(node)
  }

  private put(node: YamlNode): void {
    const frame = this.frames[this.frames.length - 1]
    if (frame) frame.node.children.push(node)
    else this.root = node
  }

  private open(kind: 'list' | 'map', step: YamlParserState, start: number, anchor: string): void {
    const node: CollectionNode = { kind, start, end: start, anchor, children: [] }
    this.add(node)
    this.frames.push({ step, node })
  }

  /** Ends the innermost collection; a block ends with its last child. */
  private close(end?: number): void {
    const node = this.frames.pop()?.node
    if (!node) return
    node.children = trimArraySpareCapacity(node.children)
    node.end = end ?? node.children.at(-1)?.end ?? node.start
  }
}

/** Returns whether a plain scalar is text and not a merge key. */
function isPlainScalarString(value: string): boolean {
  return value !== '<<' && resolvePlainScalar(value).type === 'str'
}

function isTokenOfKind(token: YamlToken, ...kinds: YamlTokenKind[]): boolean {
  return kinds.includes(token.kind)
}
