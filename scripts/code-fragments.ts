// Finds a fragment of code again after its identifiers were renamed, its sentences reworded, its comments changed, or its file moved.
// A fragment has the shape of a stretch of source when both have the same keywords and punctuation, and each identifier of
// the one always corresponds to the same identifier of the other.

export interface CodeToken {
  readonly text: string
  readonly kind: 'fixed' | 'name' | 'sentence'
  readonly start: number
  readonly end: number
}

export interface CodeFragmentMatch {
  readonly start: number
  readonly end: number
  /** The source's tokens for the fragment's, in order. */
  readonly tokens: readonly CodeToken[]
  /** The source's name for each of the fragment's. */
  readonly names: ReadonlyMap<string, string>
  /** How many of the names are unchanged. */
  readonly same: number
}

const reservedWords = new Set(
  `abstract as asserts async await boolean break case catch class const continue default delete do else export extends false
finally for from function if implements import in instanceof interface is keyof let never new null number of readonly return satisfies
static string super switch this throw true try type typeof undefined unknown var void while yield
Array Boolean Buffer Date Error Infinity JSON Map Math Number Object Promise RegExp Set String Symbol Uint8Array
every filter find flatMap forEach get has includes indexOf join length map max min push replace set size slice some sort split
startsWith endsWith then trim values keys entries test toLowerCase`.split(/\s+/),
)

// Comments, strings, names, numbers, and every other character separately. Strings end on their line, so lexing needs no
// context and reads a fragment like the file it came from.
const codeTokenPattern =
  /(?<comment>^[ \t]*\/\/.*$|[ \t]\/\/[ \t].*$|\/\*[\s\S]*?\*\/)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?=[^`\n]*[a-z,:] [a-z])(?:[^`\\\n$]|\\.|\$(?!\{)|\$\{[^`{}\n]*\})*`)|(?<name>[A-Za-z_$][\w$]*)|(?<number>\d[\w.]*)|(?<sign>[^\s])/gm

export function tokenizeCode(text: string): readonly CodeToken[] {
  const tokens: CodeToken[] = []
  for (const { 0: found, groups = {}, index } of text.matchAll(codeTokenPattern)) {
    if (groups.comment !== undefined) continue
    const isSentence = groups.string !== undefined && /\S \S/.test(found)
    const isName = groups.string !== undefined || (groups.name !== undefined && !reservedWords.has(found))
    const kind = isSentence ? 'sentence' : isName ? 'name' : 'fixed'
    // A formatter adds and removes commas at the end of a list.
    if (found === ',' && /^\s*[)\]}]/.test(text.slice(index + 1, index + 200))) continue
    tokens.push({ text: found, kind, start: index, end: index + found.length })
  }
  return tokens
}

function matchFragmentAt(
  fragment: readonly CodeToken[],
  source: readonly CodeToken[],
  from: number,
): CodeFragmentMatch | undefined {
  const names = new Map<string, string>()
  const taken = new Map<string, string>()
  let same = 0
  for (const [at, wanted] of fragment.entries()) {
    const found = source[from + at]
    if (found?.kind !== wanted.kind) return undefined
    if (wanted.kind === 'fixed' && found.text !== wanted.text) return undefined
    if (wanted.kind !== 'name') continue
    if ((names.get(wanted.text) ?? found.text) !== found.text) return undefined
    if ((taken.get(found.text) ?? wanted.text) !== wanted.text) return undefined
    names.set(wanted.text, found.text)
    taken.set(found.text, wanted.text)
    if (found.text === wanted.text) same++
  }
  const tokens = source.slice(from, from + fragment.length)
  return { start: tokens[0]?.start ?? 0, end: tokens.at(-1)?.end ?? 0, tokens, names, same }
}

/** Every stretch of `source` that has the shape of `fragment`, in order. */
export function findCodeFragments(
  fragment: readonly CodeToken[],
  source: readonly CodeToken[],
): readonly CodeFragmentMatch[] {
  const found: CodeFragmentMatch[] = []
  for (let from = 0; from + fragment.length <= source.length; from++) {
    const match = matchFragmentAt(fragment, source, from)
    if (match !== undefined) found.push(match)
  }
  return found
}

/** `text` with the names of a fragment replaced by those of the source that it matched. */
export function applyRenames(text: string, names: ReadonlyMap<string, string>): string {
  let result = ''
  let done = 0
  for (const { text: name, kind, start, end } of tokenizeCode(text)) {
    if (kind !== 'name') continue
    result += text.slice(done, start) + (names.get(name) ?? name)
    done = end
  }
  return result + text.slice(done)
}
