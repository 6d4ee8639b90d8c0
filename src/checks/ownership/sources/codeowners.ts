// CODEOWNERS with GitHub's semantics: the last matching line wins, and a line without owners takes owners away.
// A file with any error gives nobody authority, though GitHub itself would skip the line: a skipped line may have
// been the one that took somebody's rights away.
import { findDividing, findUnseen } from '../../../config/odd-characters.ts'
import { matchesGlob, type Glob, type GlobPiece } from '../../../go/glob.ts'
import { parseLogin, parseTeam } from '../principal.ts'
import type { Principal } from '../principal.ts'
import type { Read, SourceProblem } from './owner-source.ts'
import { oncePer } from '../../../findings/once.ts'

export interface CodeownersLine {
  readonly pattern: string
  readonly segments: readonly Segment[]
  readonly owners: readonly Principal[]
}

/** A name of the path: `**` for any number of them, plain text for exactly that one, or a pattern. */
type Segment = '**' | { readonly text: string; readonly isPlain: boolean; readonly glob: Glob }

// GitHub ignores a file of 3 MB or more as a whole.
const limit = 3 * 1024 * 1024

const address = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** Reads the file's text. All errors are listed; with any, nothing is derived. */
export function readCodeowners(file: string, text: string): Read<readonly CodeownersLine[]> {
  const problems: SourceProblem[] = []
  const lines: CodeownersLine[] = []
  if (new TextEncoder().encode(text).length >= limit)
    problems.push({ at: { file, line: 1, column: 1 }, problem: 'it has 3 MB or more, so GitHub ignores it' })
  else
    for (const [index, line] of text.split('\n').entries()) {
      const parsed = parseLine(line.replace(/\r$/, ''))
      if (parsed === undefined) continue
      if (typeof parsed === 'string')
        problems.push({ at: { file, line: index + 1, column: 1 }, problem: parsed })
      else lines.push(parsed)
    }
  const [first, ...rest] = problems
  return first === undefined ? { kind: 'read', value: lines } : { kind: 'broken', problems: [first, ...rest] }
}

/** The owners of a path: those of the last line that matches it; nobody where none does. Case matters. */
export function codeownersOf(path: string, lines: readonly CodeownersLine[]): readonly Principal[] {
  const parts = path.split('/')
  let last = -1
  for (const at of candidates(lines, parts))
    if (at > last && matches(lines[at]?.segments ?? [], parts)) last = at
  return lines[last]?.owners ?? []
}

/** Which lines may match a path at all: those that name one of its parts, and those that name none. */
interface Index {
  readonly byName: ReadonlyMap<string, readonly number[]>
  readonly others: readonly number[]
}

function* candidates(lines: readonly CodeownersLine[], parts: readonly string[]): Generator<number> {
  const index = indexOf(lines)
  for (const part of new Set(parts)) yield* index.byName.get(part) ?? []
  yield* index.others
}

const indexOf = oncePer((lines: readonly CodeownersLine[]): Index => {
  const byName = new Map<string, number[]>()
  const others: number[] = []
  for (const [at, { segments }] of lines.entries()) {
    // The last is the rarest: `/operators/foo/` names foo's directory.
    const plain = segments.findLast((segment) => segment !== '**' && segment.isPlain)
    if (plain === undefined || plain === '**') others.push(at)
    else {
      const known = byName.get(plain.text)
      if (known) known.push(at)
      else byName.set(plain.text, [at])
    }
  }
  return { byName, others }
})

/**
 * A line, a problem as text, or undefined for a blank line or a comment. What GitHub takes for white space is not
 * documented: a line with anything but spaces and tabs could be a pattern with owners to it and without to us.
 */
function parseLine(line: string): CodeownersLine | string | undefined {
  const divided = findDividing(line)
  if (divided !== undefined) return `it holds ${divided.name}, where readers may end a line`
  const words = splitWords(line)
  const odd = words.map(findUnseen).find((name) => name !== undefined)
  if (odd !== undefined) return `it holds ${odd}, which may be white space or not`
  const [pattern, ...owners] = words
  if (pattern === undefined) return undefined
  if (pattern.startsWith('!')) return 'patterns cannot be negated with !'
  if (/[[\]]/.test(pattern)) return 'patterns cannot use [ ]'
  if (pattern.startsWith('\\#')) return 'a pattern cannot begin with an escaped #'
  if (pattern.includes('#')) return 'a # within a pattern may begin a comment'
  if (/(?<!\\)(?:\\\\)*\\$/.test(pattern)) return 'a pattern cannot end in a backslash'
  const segments = toSegments(pattern)
  if (segments === undefined) return `${JSON.stringify(pattern)} is not a pattern`
  const principals: Principal[] = []
  for (const owner of owners) {
    const principal = parseOwner(owner)
    if (principal === undefined)
      return `${JSON.stringify(owner)} is not @login, @organization/team or an e-mail address`
    principals.push(principal)
  }
  return { pattern, segments: segments.map(toSegment), owners: principals }
}

/** Splits at white space; `\ ` keeps a space in a pattern; `#` begins a comment at the start of a word. */
function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at)
    if (char === '\\' && line.charAt(at + 1) === ' ') {
      word += ' '
      at += 1
    } else if (char === ' ' || char === '\t') {
      if (word !== '') words.push(word)
      word = ''
    } else if (char === '#' && word === '') return words
    else word += char
  }
  if (word !== '') words.push(word)
  return words
}

function parseOwner(text: string): Principal | undefined {
  if (text.startsWith('@')) {
    const name = text.slice(1)
    return name.includes('/') ? parseTeam(name) : parseLogin(name)
  }
  return address.test(text) ? { kind: 'email', address: text.toLowerCase() } : undefined
}

/**
 * The pattern as path segments from the root, where `**` stands for any number of them. A pattern with a slash
 * before its end is anchored at the root, any other floats; a slash at the end means everything below.
 */
function toSegments(pattern: string): readonly string[] | undefined {
  if (pattern === '/') return undefined
  const anchored = pattern.slice(0, -1).includes('/')
  const directory = pattern.endsWith('/')
  const body = pattern.replace(/^\//, '').replace(/\/$/, '')
  const parts = body.split('/')
  if (parts.some((part) => part === '')) return undefined
  const segments = anchored || parts[0] === '**' ? parts : ['**', ...parts]
  return directory ? [...segments, '**'] : segments
}

/** Whether the segments cover the path: the file itself, or (unless they end in a `*` of their own) a directory above it. */
function matches(segments: readonly Segment[], parts: readonly string[]): boolean {
  const last = segments.at(-1)
  const isBelowOnly = last === '**' || last?.text === '*'
  const memo = new Map<number, boolean>()
  const from = (segment: number, part: number): boolean => {
    const key = segment * (parts.length + 1) + part
    const known = memo.get(key)
    if (known !== undefined) return known
    const result = step(segment, part)
    memo.set(key, result)
    return result
  }
  const step = (segment: number, part: number): boolean => {
    const pattern = segments[segment]
    // `docs/*` covers the files in docs and not those further below; a plain name covers the directory's whole content.
    if (pattern === undefined) return part === parts.length || !isBelowOnly
    if (pattern === '**')
      // At the end it stands for at least one segment: `docs/**` covers what is in docs.
      return segment === segments.length - 1
        ? part < parts.length
        : from(segment + 1, part) || (part < parts.length && from(segment, part + 1))
    const name = parts[part]
    return name !== undefined && covers(pattern, name) && from(segment + 1, part + 1)
  }
  return from(0, 0)
}

function covers({ text, isPlain, glob }: Exclude<Segment, '**'>, name: string): boolean {
  return isPlain ? text === name : matchesGlob(glob, name)
}

/** `*` stands for any text within a name, `?` for one character; a backslash makes the next character plain. */
function toSegment(pattern: string): Segment {
  if (pattern === '**') return pattern
  const characters = [...pattern]
  const pieces: GlobPiece[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    const escaped = character === '\\' ? characters[at + 1] : undefined
    if (escaped !== undefined) at += 1
    if (escaped === undefined && character === '*') pieces.push({ kind: 'star' })
    else if (escaped === undefined && character === '?') pieces.push({ kind: 'any' })
    else pieces.push({ kind: 'one', character: escaped ?? character })
  }
  return { text: pattern, isPlain: !/[*?\\]/.test(pattern), glob: { pieces } }
}
