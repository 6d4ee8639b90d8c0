// `landings`: where nothing is merged and why; stop and resume. On the store itself, or through the App that has it.
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { userInfo } from 'node:os'
import { controlSocketPath } from '../app/control-socket.ts'
import { storeFolder } from '../app/settings.ts'
import { systemClock } from '../evaluate/system-clock.ts'
import { toPrintable } from '../findings/printable.ts'
import { formatFreezeAuthor, formatFreeze, type MergeFreeze } from '../gate/merge-freeze.ts'
import { manageFreezes, type FreezesResponse, type FreezesRequest } from '../merge/manage-freezes.ts'
import { StoreError } from '../store/store-error.ts'
import { openStore } from '../store/store.ts'
import { setExitCode, print, printJson, printToStderr } from './output.ts'
import { parseRepository } from './parse-repository.ts'

export interface FreezeCommandOptions {
  readonly repository?: string
  readonly branch?: string
  readonly reason?: string
  readonly audit?: boolean
  readonly json?: boolean
}

/** Exit code 0, also where nothing is stopped; 1 when there was nothing to resume. Rejects where the store cannot be had. */
export async function runFreezeCommand(verb: string, options: FreezeCommandOptions): Promise<void> {
  const wanted = parseFreezeRequest(verb, options)
  const answer = await sendFreezeRequest(wanted)
  if (options.json === true) printJson(answer)
  else printFreezes(wanted, answer)
  setExitCode(wanted.verb === 'resume' && answer.changed.length === 0 ? 1 : 0)
}

function parseFreezeRequest(verb: string, options: FreezeCommandOptions): FreezesRequest {
  const repository = options.repository === undefined ? undefined : parseRepository(options.repository)
  if (verb === 'list') return { verb, ...(repository && { repository }) }
  if (verb !== 'stop' && verb !== 'resume')
    throw new Error(`landings can stop and resume, and not ${JSON.stringify(verb)}`)
  if (repository === undefined) throw new Error(`landings ${verb} needs --repository OWNER/NAME`)
  const { branch, reason = '', audit = false } = options
  const order = { repository, ...(branch !== undefined && { branch }), reason, user: userInfo().username }
  return verb === 'stop' ? { verb, ...order } : { verb, ...order, audit }
}

async function sendFreezeRequest(wanted: FreezesRequest): Promise<FreezesResponse> {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory = 'data' } = process.env
  if (databaseUrl) return executeOnStore({ databaseUrl }, wanted)
  const socket = controlSocketPath(dataDirectory)
  const answer = socket === undefined ? undefined : await requestFromApp(socket, wanted)
  if (answer !== undefined) return answer
  const folder = storeFolder(dataDirectory)
  if (!existsSync(folder))
    throw new Error(
      `there is no store in ${dataDirectory}: set DATA_DIR or DATABASE_URL to what the App has, or run this where it runs`,
    )
  try {
    return await executeOnStore({ dataDirectory: folder, lockTimeoutMs: 0 }, wanted)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'in-use') throw error
    throw new Error(
      `the App has the store in ${dataDirectory} and does not answer at ${socket ?? 'a socket'}: comment /freeze or /thaw on a pull request, or try again when the App has started`,
      { cause: error },
    )
  }
}

async function executeOnStore(
  where: { databaseUrl: string } | { dataDirectory: string; lockTimeoutMs: number },
  wanted: FreezesRequest,
): Promise<FreezesResponse> {
  const store = await openStore({ ...where, clock: systemClock })
  try {
    return await manageFreezes(wanted, store)
  } finally {
    await store.close()
  }
}

/** Undefined when no App listens there. */
async function requestFromApp(
  socketPath: string,
  wanted: FreezesRequest,
): Promise<FreezesResponse | undefined> {
  return await new Promise((done, failed) => {
    const clientRequest = request({ socketPath, method: 'POST', path: '/', timeout: 30_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        const value = JSON.parse(text) as FreezesResponse | { error: string }
        if ('error' in value) failed(new Error(value.error))
        else done(value)
      })
      response.on('error', failed)
    })
    clientRequest.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') done(undefined)
      else failed(error)
    })
    clientRequest.on('timeout', () => clientRequest.destroy(new Error('the App did not answer within 30 s')))
    clientRequest.end(JSON.stringify(wanted))
  })
}

function printFreezes(wanted: FreezesRequest, { changed, stops, events }: FreezesResponse): void {
  if (wanted.verb === 'resume') {
    for (const stop of changed) print(`Resumed: ${formatBranchName(stop)}`)
    if (changed.length === 0) printToStderr('There was nothing to resume.')
    const audits = stops.filter(
      ({ kind, branch }) => kind === 'audit' && (wanted.branch === undefined || branch === wanted.branch),
    )
    if (audits.length > 0 && !wanted.audit)
      printToStderr('A stop that the audit ordered stays. Look at its cause, then resume with --audit.')
  }
  if (stops.length === 0) print('Merging is stopped nowhere.')
  for (const stop of stops) print(`${formatBranchName(stop)}: ${toPrintable(formatFreeze(stop))}`)
  if (wanted.verb === 'list' && events.length > 0) {
    print('')
    for (const { step, kind, branch, reason, by, at } of events) {
      const where = branch === undefined ? 'every branch' : toPrintable(branch)
      const why = reason === '' ? '' : `: ${toPrintable(reason)}`
      print(
        `${new Date(at).toISOString()} ${step} (${kind}) ${where} by ${toPrintable(formatFreezeAuthor(by))}${why}`,
      )
    }
  }
}

function formatBranchName({ repository: { owner, name }, branch }: MergeFreeze): string {
  return toPrintable(`${owner}/${name}${branch === undefined ? '' : ` ${branch}`}`)
}
