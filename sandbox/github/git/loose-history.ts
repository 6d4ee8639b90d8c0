// Commits of loose objects and what they have in common, as git tells it.
import { keeping, NotLoose, readLoose } from './loose-objects.ts'

export interface Person {
  readonly name: string
  readonly email: string
  /** Seconds since the epoch. */
  readonly at: number
}

export interface LooseCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person
  readonly committer: Person
  readonly message: string
}

/** Throws NotLoose for whatever is no plain commit in UTF-8. */
export const looseCommit = keeping((path, id): LooseCommit => {
  const { type, bytes } = readLoose(path, id)
  const text = bytes.toString()
  const end = text.indexOf('\n\n')
  if (type !== 'commit' || end < 0 || text.includes('\uFFFD')) throw new NotLoose(id)
  const parents: string[] = []
  let [tree, author, committer]: [string?, Person?, Person?] = []
  for (const line of text.slice(0, end).split('\n')) {
    const space = line.indexOf(' ')
    const [name, value] = [line.slice(0, space), line.slice(space + 1)]
    if (name === 'tree') tree = value
    else if (name === 'parent') parents.push(value)
    else if (name === 'author') author = personOf(value)
    else if (name === 'committer') committer = personOf(value)
    else if (name === 'encoding') throw new NotLoose(id)
  }
  if (tree === undefined || author === undefined || committer === undefined) throw new NotLoose(id)
  return { tree, parents, author, committer, message: text.slice(end + 2) }
})

function personOf(line: string): Person | undefined {
  const found = /^([^<>\s](?:[^<>]*[^<>\s])?) <([^<>\s]*)> (\d+) [+-]\d{4}$/.exec(line)
  const [, name, email, at] = found ?? []
  return name === undefined || email === undefined ? undefined : { name, email, at: Number(at) }
}

/** The commits, and all that they contain. */
function reachable(path: string, from: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const left = [...from]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    left.push(...looseCommit(path, next).parents)
  }
  return seen
}

export function containsLoose(path: string, commit: string, ancestor: string): boolean {
  // It has to be there, as git wants it.
  looseCommit(path, ancestor)
  const seen = new Set<string>()
  const left = [commit]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next === ancestor) return true
    if (seen.has(next)) continue
    seen.add(next)
    left.push(...looseCommit(path, next).parents)
  }
  return false
}

/** The commits that `tip` contains and `known` do not, in the order of `git log`: the newest first. */
export function looseRange(path: string, tip: string, known: readonly string[]): readonly string[] {
  const seen = reachable(path, known)
  const line: string[] = []
  const waiting: { readonly id: string; readonly at: number }[] = []
  const wait = (id: string): void => {
    if (seen.has(id)) return
    seen.add(id)
    const { at } = looseCommit(path, id).committer
    const place = waiting.findIndex((other) => other.at < at)
    waiting.splice(place < 0 ? waiting.length : place, 0, { id, at })
  }
  wait(tip)
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    line.push(next.id)
    looseCommit(path, next.id).parents.forEach(wait)
  }
  return line
}

/**
 * The first commit of a branch's own line that has another commit as a parent: undefined where none has, or where that is the
 * tip itself.
 */
export function broughtIn(path: string, commit: string, tip: string): string | undefined {
  let found: string | undefined
  for (let at: string | undefined = tip; at !== undefined && at !== commit;) {
    const { parents } = looseCommit(path, at)
    if (parents.includes(commit)) found = at
    at = parents[0]
  }
  return found
}

/** The best common ancestor, undefined for none. Of several git chooses one: that is git's to say. */
export function looseMergeBase(path: string, one: string, other: string): string | undefined {
  const ofOther = reachable(path, [other])
  const common = [...reachable(path, [one])].filter((commit) => ofOther.has(commit))
  const below = reachable(
    path,
    common.flatMap((commit) => looseCommit(path, commit).parents),
  )
  const best = common.filter((commit) => !below.has(commit))
  if (best.length > 1) throw new NotLoose('criss-cross')
  return best[0]
}
