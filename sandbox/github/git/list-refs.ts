// Git's `ls-refs` (protocol 2), from the files of a bare repository. Nearly every evaluation sends only this request,
// for which Git would start two processes. Git itself handles other requests, and peels tags.
import { readRefs } from './refs.ts'

/** The body of the answer, or undefined for any request that is not an `ls-refs` for branches or pull requests. */
export async function respondToLsRefs(repository: string, request: Buffer): Promise<Buffer | undefined> {
  const prefixes = parseRefPrefixes(request)
  if (prefixes === undefined) return undefined
  const refs = [...(await readRefs(repository, prefixes))]
  if (refs.some(([ref]) => !/^refs\/(?:heads|pull)\//.test(ref))) return undefined
  return Buffer.from(`${refs.map(([ref, id]) => formatPktLine(`${id} ${ref}\n`)).join('')}0000`)
}

export const formatPktLine = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

const prefixPattern = /^ref-prefix (refs\/(?:(?:(?:heads|tags|remotes)\/)?refs\/heads|heads|pull)\/.+)$/

function parseRefPrefixes(request: Buffer): string[] | undefined {
  const text = request.toString('utf8')
  if (!text.startsWith(formatPktLine('command=ls-refs\n'))) return undefined
  const prefixes: string[] = []
  let isArgument = false
  for (let at = 0, length = 0; at < text.length; at += Math.max(length, 4)) {
    length = Number.parseInt(text.slice(at, at + 4), 16)
    if (length === 0) return at + 4 === text.length && prefixes.length > 0 ? prefixes : undefined
    if (length === 1) isArgument = true
    else if (isArgument) {
      const argument = text.slice(at + 4, at + length).trimEnd()
      // These options concern tags and symbolic refs. `git fetch` looks for a branch in these folders, too.
      if (/^(?:peel|symrefs|unborn)$/.test(argument)) continue
      const prefix = prefixPattern.exec(argument)?.[1]
      if (prefix === undefined) return undefined
      prefixes.push(prefix)
    }
  }
  return undefined
}
