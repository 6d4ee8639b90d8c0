// A push under rules. Its objects are inspected in a quarantine next to the repository. Then Git handles the push
// itself, with a hook that declines the rejected refs and prints GitHub's messages.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ApiCaller } from '../http/caller.ts'
import { createBareRepository } from '../git/git-store.ts'
import type { MockRepository } from '../github-data.ts'
import { evaluateRefUpdate } from './evaluate-ref-update.ts'
import { hasRulesForRef } from './rule-layers.ts'
import { parsePushRequest, unpackGitObjects } from './receive-pack.ts'
import type { PushCommand } from './receive-pack.ts'
import {
  formatRuleBypassLines,
  pushDeclineMessageByErrorCode,
  formatPushRejectionLines,
} from './verdict-messages.ts'
import { canWriteWorkflowFiles, findWorkflowFileRejection } from './workflow-files.ts'

/** The messages about a push: reasons by rejected ref, and the files that the hook reads. */
export interface PushValidationResult {
  readonly reasons: ReadonlyMap<string, string>
  /** For Git's environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Deletes the quarantine. */
  cleanUp(): Promise<void>
}

const acceptedPushResult: PushValidationResult = {
  reasons: new Map(),
  environment: {},
  cleanUp: async () => undefined,
}

const updateHookScript = `#!/bin/sh
words="$SANDBOX_VERDICTS/$1"
[ -n "$SANDBOX_VERDICTS" ] || exit 0
[ -f "$words/said" ] && cat "$words/said" >&2
[ ! -f "$words/rejected" ]
`

const zeroSha = '0'.repeat(40)

/** Evaluates a push before Git handles it. Does nothing if no rule applies to its refs. */
export async function validatePush(
  repo: MockRepository,
  by: ApiCaller,
  body: Buffer,
): Promise<PushValidationResult> {
  const { commands, pack } = parsePushRequest(body)
  if (canWriteWorkflowFiles(by) && !commands.some(({ ref }) => hasRulesForRef(repo, ref)))
    return acceptedPushResult
  const quarantine = await mkdtemp(`${repo.path}-push-`)
  const cleanUp = async (): Promise<void> => rm(quarantine, { recursive: true, force: true, maxRetries: 10 })
  try {
    await createBareRepository(quarantine, repo.defaultBranch)
    await mkdir(join(quarantine, 'objects', 'info'), { recursive: true })
    await writeFile(join(quarantine, 'objects', 'info', 'alternates'), `${resolve(repo.path, 'objects')}\n`)
    await unpackGitObjects(quarantine, pack)
    const reasons = new Map<string, string>()
    for (const command of commands) {
      const verdict = await validatePushCommand(repo, quarantine, by, command)
      if (verdict === undefined) continue
      if (verdict.reason !== undefined) reasons.set(command.ref, verdict.reason)
      await writeUpdateHookVerdict(join(quarantine, 'verdicts', command.ref), verdict)
    }
    await mkdir(join(repo.path, 'hooks'), { recursive: true })
    await writeFile(join(repo.path, 'hooks', 'update'), updateHookScript, { mode: 0o755 })
    return { reasons, environment: { SANDBOX_VERDICTS: join(quarantine, 'verdicts') }, cleanUp }
  } catch (error) {
    await cleanUp()
    throw error
  }
}

interface UpdateHookVerdict {
  readonly lines: readonly string[]
  /** Undefined: the push is accepted. */
  readonly reason?: string
}

async function validatePushCommand(
  repo: MockRepository,
  path: string,
  by: ApiCaller,
  { old, now, ref }: PushCommand,
): Promise<UpdateHookVerdict | undefined> {
  const from = old === zeroSha ? undefined : old
  const to = now === zeroSha ? undefined : now
  const rejection = await findWorkflowFileRejection(repo, path, from, to, by)
  if (rejection !== undefined) return { lines: [], reason: rejection }
  // Git itself rejects a push that starts from an old tip, with its own message.
  if (!hasRulesForRef(repo, ref) || repo.knownRefs.get(ref) !== from) return undefined
  const verdict = await evaluateRefUpdate({ repo, path, ref, old: from, now: to, by })
  if (verdict.rejected.length > 0)
    return {
      lines: formatPushRejectionLines(repo, ref, verdict),
      reason: pushDeclineMessageByErrorCode[verdict.code],
    }
  return verdict.bypassed.length > 0 ? { lines: formatRuleBypassLines(ref, verdict) } : undefined
}

async function writeUpdateHookVerdict(folder: string, { lines, reason }: UpdateHookVerdict): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (lines.length > 0) await writeFile(join(folder, 'said'), `${lines.join('\n')}\n`)
  if (reason !== undefined) await writeFile(join(folder, 'rejected'), '')
}
