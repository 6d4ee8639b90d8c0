// Git's `ls-refs` (protocol 2), from the files of a bare repository. Nearly every evaluation sends only this request,
// for which Git would start two processes. Git itself handles other requests.
import { readRefs } from './refs.ts'

/** The body of the answer, or undefined for any request that is not a plain `ls-refs` with prefixes. */
export async function respondToLsRefs(repository: string, request: Buffer): Promise<Buffer | undefined> {
  const prefixes = parseRefPrefixes(request)
  if (prefixes === undefined) return undefined
  const refs = await readRefs(repository, prefixes)
  const lines = [...refs].map(([ref, id]) => `${id} ${ref}\n`)
  return Buffer.from(`${lines.map((line) => formatPktLine(line)).join('')}0000`)
}

export const formatPktLine = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

const lsRefsCommand = 'command=ls-refs\n'
const refPrefixArgument = 'ref-prefix '

function parseRefPrefixes(request: Buffer): string[] | undefined {
  const text = request.toString('utf8')
  if (!text.startsWith(formatPktLine(lsRefsCommand))) return undefined
  const prefixes: string[] = []
  let isArgument = false
  for (let at = 0; at < text.length;) {
    const length = Number.parseInt(text.slice(at, at + 4), 16)
    if (length === 0) return at + 4 === text.length && prefixes.length > 0 ? prefixes : undefined
    if (length === 1) isArgument = true
    else if (isArgument) {
      const argument = text.slice(at + 4, at + length).trimEnd()
      // Only for prefixes in a ref folder, so that only one folder is read. Git handles peeled tags and other
      // options.
      if (
        !argument.startsWith(refPrefixArgument) ||
        !/^refs\/(?:heads|pull)\/./.test(argument.slice(refPrefixArgument.length))
      )
        return undefined
      prefixes.push(argument.slice(refPrefixArgument.length))
    }
    at += Math.max(length, 4)
  }
  return undefined
}
