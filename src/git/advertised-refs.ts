// What some refs stand at on the server, by one request and no process. Most looks find that nothing moved, and `git fetch`
// takes four processes and two requests to find that out.
// https://git-scm.com/docs/protocol-v2 (ls-refs) and gitprotocol-http: a request of version 2 needs no other before it.
import { credentialOf, type Remote } from './remote.ts'

/** Milliseconds. Whoever answers later than this is asked by git, which has more patience. */
const patience = 10_000
/** Bytes. A branch's name may be the beginning of many others, and all of them are told. */
const mostBytes = 64 * 1024

/**
 * Where each of `refs` stands; one that the server does not have is not among them. Undefined: it could not be learnt this way
 * (no http, another protocol, a failure of any kind). Git then asks, and says what is wrong.
 * Throws GitError `unauthorized` when there is no credential to be had.
 */
export async function advertisedRefs(
  remote: Remote,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Through a proxy it is git that knows the way.
  if (remote.protocol === 'file' || remote.proxy !== undefined) return undefined
  const credential = await credentialOf(remote)
  try {
    const response = await fetch(`${remote.url}/git-upload-pack`, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
      headers: {
        'git-protocol': 'version=2',
        'content-type': 'application/x-git-upload-pack-request',
        accept: 'application/x-git-upload-pack-result',
        'user-agent': 'catalog-bot',
        ...(credential && { authorization: basic(credential.username, credential.password) }),
      },
      body: question(refs),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      return undefined
    }
    const body = await readAtMost(response, mostBytes)
    return body && answer(body, refs)
  } catch {
    return undefined
  }
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function question(refs: readonly string[]): string {
  const line = (text: string) => `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`
  return [
    line('command=ls-refs'),
    line('object-format=sha1'),
    '0001',
    ...refs.map((ref) => line(`ref-prefix ${ref}`)),
    '0000',
  ].join('')
}

async function readAtMost(response: Response, most: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const part of body ?? []) {
    size += part.length
    if (size > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Undefined unless every line is as the protocol has it, up to the one packet that ends the answer. */
function answer(body: Buffer, refs: readonly string[]): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  let at = 0
  for (;;) {
    const length = body.toString('latin1', at, at + 4)
    if (length === '0000') return at + 4 === body.length ? found : undefined
    const size = /^[0-9a-f]{4}$/.test(length) ? Number.parseInt(length, 16) : 0
    if (size < 5 || at + size > body.length) return undefined
    const [, id, ref] =
      /^([0-9a-f]{40}) ([^ \n]+)[^\n]*\n?$/.exec(body.toString('utf8', at + 4, at + size)) ?? []
    if (id === undefined || ref === undefined || found.has(ref)) return undefined
    if (refs.includes(ref)) found.set(ref, id)
    at += size
  }
}
