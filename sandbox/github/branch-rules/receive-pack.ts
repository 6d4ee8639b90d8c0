// Git's push protocol, as far as the rules need it: the refs that a request moves, the pack after them, and the
// reason that the report gives for a ref.
import { GitCommandError, runGitForBytes } from '../git/git-store.ts'

export interface PushCommand {
  readonly old: string
  readonly now: string
  readonly ref: string
}

/** Reads pkt-lines up to a flush packet. Returns their contents and the offset of the rest. */
function parsePktLines(bytes: Buffer, from = 0): { readonly lines: Buffer[]; readonly end: number } {
  const lines: Buffer[] = []
  let at = from
  while (at + 4 <= bytes.length) {
    const size = Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
    if (!(size >= 4)) return { lines, end: at + 4 }
    lines.push(bytes.subarray(at + 4, at + size))
    at += size
  }
  return { lines, end: bytes.length }
}

function formatPktLine(content: Buffer): Buffer {
  const size = (content.length + 4).toString(16).padStart(4, '0')
  return Buffer.concat([Buffer.from(size), content])
}

/** The commands of a push request, and its pack, which is empty if it only deletes refs. */
export function parsePushRequest(body: Buffer): { readonly commands: PushCommand[]; readonly pack: Buffer } {
  const { lines, end } = parsePktLines(body)
  const [, capabilities = ''] = (lines[0]?.toString() ?? '').split('\0')
  const commands = lines.flatMap((line) => {
    const [, old, now, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0\n]+)/.exec(line.toString()) ?? []
    return old === undefined || now === undefined || ref === undefined ? [] : [{ old, now, ref }]
  })
  const hasOptions = / ?\bpush-options\b/.test(capabilities)
  return { commands, pack: body.subarray(hasOptions ? parsePktLines(body, end).end : end) }
}

/** Writes the objects of a pack into the repository at `path`. Git itself rejects a pack that it cannot read. */
export async function unpackGitObjects(path: string, pack: Buffer): Promise<void> {
  if (pack.length === 0) return
  try {
    await runGitForBytes(path, ['unpack-objects', '-q'], [pack])
  } catch (error) {
    if (!(error instanceof GitCommandError)) throw error
  }
}

/** Inserts the sandbox's reasons into Git's report, where Git only reports, twice, that a hook declined. */
export function addRejectionReasonsToStatusReport(
  answer: Buffer,
  reasons: ReadonlyMap<string, string>,
): Buffer {
  const { lines, end } = parsePktLines(answer)
  const report = lines.filter((it) => it[0] === 1).map((it) => it.subarray(1))
  const reportLines = lines.filter((it) => it[0] !== 1).map((it) => stripHookDeclinedMessage(it, reasons))
  const inner = parsePktLines(Buffer.concat(report)).lines.map((line) => {
    const [, ref] = /^ng (\S+) hook declined\n?$/.exec(line.toString()) ?? []
    const reason = ref === undefined ? undefined : reasons.get(ref)
    return formatPktLine(reason === undefined ? line : Buffer.from(`ng ${ref} ${reason}\n`))
  })
  const band = Buffer.concat([Buffer.from([1]), ...inner, Buffer.from('0000')])
  const shown = reportLines.filter((it) => it.length > 1).map(formatPktLine)
  return Buffer.concat([...shown, formatPktLine(band), Buffer.from('0000'), answer.subarray(end)])
}

/** A packet of client output, without Git's own line about the hook. */
function stripHookDeclinedMessage(line: Buffer, reasons: ReadonlyMap<string, string>): Buffer {
  let text = line.toString('latin1')
  for (const ref of reasons.keys()) {
    const own = Buffer.from(`error: hook declined to update ${ref}\n`).toString('latin1')
    text = text.replace(own, '')
  }
  return Buffer.from(text, 'latin1')
}
