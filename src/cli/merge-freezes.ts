// `merging`, formerly `landings`: lists, adds, and ends freezes, in the store itself or through the App that uses it.
import { existsSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { userInfo } from 'node:os'
import { text } from 'node:stream/consumers'
import { getControlSocketPath } from '../server/control-socket.ts'
import { getStoreFolder } from '../jobs/settings.ts'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { formatFreezeAuthor, formatFreeze, type MergeFreeze } from '../policy/merge-freeze.ts'
import {
  handleFreezeRequest,
  type ManageFreezesResponse,
  type ManageFreezesRequest,
} from '../merge/manage-freezes.ts'
import { StoreError } from '../adapters/store/database.ts'
import { openStore } from '../adapters/store/store.ts'
import { setExitCode, printToStdout, printJson, printToStderr } from './output.ts'
import { parseRepository } from './options.ts'

interface FreezeCommandOptions {
  readonly repository?: string
  readonly branch?: string
  readonly reason?: string
  readonly audit?: boolean
  readonly json?: boolean
}

/** Sets exit code 1 if there was nothing to unfreeze, otherwise 0. Rejects if the store is unavailable. */
export async function runFreezeCommand(verb: string, options: FreezeCommandOptions): Promise<void> {
  const input = parseFreezeRequest(verb, options)
  const answer = await sendFreezeRequest(input)
  if (options.json === true) printJson(answer)
  else printFreezes(input, answer)
  setExitCode(input.verb === 'resume' && answer.changed.length === 0 ? 1 : 0)
}

function parseFreezeRequest(verb: string, options: FreezeCommandOptions): ManageFreezesRequest {
  const repository = options.repository === undefined ? undefined : parseRepository(options.repository)
  if (verb === 'list') return { verb, ...(repository && { repository }) }
  if (verb !== 'stop' && verb !== 'resume')
    throw new Error(`unknown action ${JSON.stringify(verb)}: use list, freeze, or unfreeze`)
  if (repository === undefined)
    throw new Error(`merging ${verb === 'stop' ? 'freeze' : 'unfreeze'} requires --repository OWNER/NAME`)
  const { branch, reason = '', audit = false } = options
  const order = { repository, ...(branch !== undefined && { branch }), reason, user: userInfo().username }
  return verb === 'stop' ? { verb, ...order } : { verb, ...order, audit }
}

async function sendFreezeRequest(input: ManageFreezesRequest): Promise<ManageFreezesResponse> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory = 'data' } = process.env
  if (databaseUrl) return applyFreezeRequestToStore({ databaseUrl }, input)
  const socket = getControlSocketPath(dataDirectory)
  const answer = socket === undefined ? undefined : await sendFreezeRequestToApp(socket, input)
  if (answer !== undefined) return answer
  const folder = getStoreFolder(dataDirectory)
  if (!existsSync(folder))
    throw new Error(
      `no store found in ${dataDirectory}: set DATA_DIR or DATABASE_URL to the value that the App uses, or run this command in the App's environment`,
    )
  try {
    return await applyFreezeRequestToStore({ dataDirectory: folder, lockTimeoutMs: 0 }, input)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'in-use') throw error
    throw new Error(
      `another process uses the store in ${dataDirectory} but does not respond at ${socket ?? 'a socket'}: comment /freeze or /unfreeze on an open pull request, or try again after the App has started`,
      { cause: error },
    )
  }
}

async function applyFreezeRequestToStore(
  where: { databaseUrl: string } | { dataDirectory: string; lockTimeoutMs: number },
  input: ManageFreezesRequest,
): Promise<ManageFreezesResponse> {
  const store = await openStore({ ...where, clock: systemClock })
  try {
    return await handleFreezeRequest(input, store)
  } finally {
    await store.close()
  }
}

/** Resolves to undefined if no App listens at this path. */
async function sendFreezeRequestToApp(
  socketPath: string,
  input: ManageFreezesRequest,
): Promise<ManageFreezesResponse | undefined> {
  let response: IncomingMessage
  try {
    response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({ socketPath, method: 'POST', path: '/', timeout: 30_000 }, resolve)
      sent.on('timeout', () => sent.destroy(new Error('the App did not respond within 30 seconds')))
      sent.on('error', reject).end(JSON.stringify(input))
    })
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
  const value = JSON.parse(await text(response)) as ManageFreezesResponse | { error: string }
  if ('error' in value) throw new Error(value.error)
  return value
}

function printFreezes(input: ManageFreezesRequest, { changed, stops, events }: ManageFreezesResponse): void {
  if (input.verb === 'resume') {
    for (const stop of changed) printToStdout(`Unfrozen: ${formatFrozenBranch(stop)}`)
    if (changed.length === 0) printToStderr('Nothing was frozen.')
    const audits = stops.filter(
      ({ kind, branch }) => kind === 'audit' && (input.branch === undefined || branch === input.branch),
    )
    if (audits.length > 0 && !input.audit)
      printToStderr(
        'A freeze that was caused by a failed merge verification is still in effect. Fix the cause, and then unfreeze with --audit.',
      )
  }
  if (stops.length === 0) printToStdout('No branch is frozen.')
  for (const stop of stops)
    printToStdout(`${formatFrozenBranch(stop)}: ${escapeNonPrintableCharacters(formatFreeze(stop))}`)
  if (input.verb === 'list' && events.length > 0) {
    printToStdout('')
    for (const { step, kind, branch, reason, by, at } of events) {
      const where = branch === undefined ? 'every branch' : escapeNonPrintableCharacters(branch)
      const why = reason === '' ? '' : `: ${escapeNonPrintableCharacters(reason)}`
      printToStdout(
        `${new Date(at).toISOString()} ${freezeActionLabels[step]} (${freezeReasonLabels[kind]}) ${where} by ${escapeNonPrintableCharacters(formatFreezeAuthor(by))}${why}`,
      )
    }
  }
}

const freezeActionLabels = { stopped: 'freeze', resumed: 'unfreeze' } as const
const freezeReasonLabels = {
  frozen: 'manual',
  audit: 'merge verification failed',
  refused: 'rejected by GitHub',
} as const

function formatFrozenBranch({ repository: { owner, name }, branch }: MergeFreeze): string {
  return escapeNonPrintableCharacters(`${owner}/${name}${branch === undefined ? '' : ` ${branch}`}`)
}
