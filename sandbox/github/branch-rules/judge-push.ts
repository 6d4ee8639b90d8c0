// A push under rules. Its objects are looked at in a quarantine beside the repository; git then takes the push itself,
// with a hook that declines the refs that were refused and prints what GitHub prints.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Caller } from '../http/caller.ts'
import { createBare } from '../git/git-store.ts'
import type { Repo, World } from '../world.ts'
import { judgeUpdate } from './judge-update.ts'
import { isRuled } from './layers.ts'
import { readPush, unpack } from './receive-pack.ts'
import type { Command } from './receive-pack.ts'
import { bypassedLines, declined, refusedLines } from './verdict-texts.ts'
import { mayWriteWorkflows, workflowRefusal } from './workflow-files.ts'

/** What is to be said of a push: reasons by refused ref, and where the hook finds its words. */
export interface JudgedPush {
  readonly reasons: ReadonlyMap<string, string>
  /** For git's environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Forgets the quarantine. */
  end(): Promise<void>
}

const free: JudgedPush = { reasons: new Map(), environment: {}, end: async () => undefined }

const updateHook = `#!/bin/sh
words="$SANDBOX_VERDICTS/$1"
[ -n "$SANDBOX_VERDICTS" ] || exit 0
[ -f "$words/said" ] && cat "$words/said" >&2
[ ! -f "$words/refused" ]
`

const absent = '0'.repeat(40)

/** Judges a push before git sees it. Where no rule speaks of its refs it costs nothing. */
export async function judgePush(world: World, repo: Repo, by: Caller, body: Buffer): Promise<JudgedPush> {
  const { commands, pack } = readPush(body)
  if (mayWriteWorkflows(by) && !commands.some(({ ref }) => isRuled(repo, ref))) return free
  const quarantine = await mkdtemp(`${repo.path}-push-`)
  const end = async (): Promise<void> => rm(quarantine, { recursive: true, force: true, maxRetries: 10 })
  try {
    await createBare(quarantine, repo.defaultBranch)
    await mkdir(join(quarantine, 'objects', 'info'), { recursive: true })
    await writeFile(join(quarantine, 'objects', 'info', 'alternates'), `${resolve(repo.path, 'objects')}\n`)
    await unpack(quarantine, pack)
    const reasons = new Map<string, string>()
    for (const command of commands) {
      const said = await judgeCommand(world, repo, quarantine, by, command)
      if (said === undefined) continue
      if (said.reason !== undefined) reasons.set(command.ref, said.reason)
      await leaveWords(join(quarantine, 'verdicts', command.ref), said)
    }
    await mkdir(join(repo.path, 'hooks'), { recursive: true })
    await writeFile(join(repo.path, 'hooks', 'update'), updateHook, { mode: 0o755 })
    return { reasons, environment: { SANDBOX_VERDICTS: join(quarantine, 'verdicts') }, end }
  } catch (error) {
    await end()
    throw error
  }
}

interface Said {
  readonly lines: readonly string[]
  /** Undefined: the push goes through. */
  readonly reason?: string
}

async function judgeCommand(
  world: World,
  repo: Repo,
  path: string,
  by: Caller,
  { old, now, ref }: Command,
): Promise<Said | undefined> {
  const from = old === absent ? undefined : old
  const to = now === absent ? undefined : now
  const refusal = await workflowRefusal(repo, path, from, to, by)
  if (refusal !== undefined) return { lines: [], reason: refusal }
  // A push that starts from an old tip is git's to refuse: the words are its own.
  if (!isRuled(repo, ref) || repo.known.get(ref) !== from) return undefined
  const verdict = await judgeUpdate({ world, repo, path, ref, old: from, now: to, by })
  if (verdict.refused.length > 0)
    return { lines: refusedLines(world, repo, ref, verdict), reason: declined[verdict.code] }
  return verdict.bypassed.length > 0 ? { lines: bypassedLines(ref, verdict) } : undefined
}

async function leaveWords(folder: string, { lines, reason }: Said): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (lines.length > 0) await writeFile(join(folder, 'said'), `${lines.join('\n')}\n`)
  if (reason !== undefined) await writeFile(join(folder, 'refused'), '')
}
