// What a data folder must not lose: a merged, announced, and published pull request, one that its owner approved by a
// command, and a freeze.
import { setTimeout as pause } from 'node:timers/promises'
import type { MockPull } from '../github/github-data.ts'
import type { BotProcess } from './bot-process.ts'
import { demoRepositoryName, type DemoEnvironment } from './demo-environment.ts'
import { openDemoStory } from './stories.ts'
import { findBotComment } from './story-outcome.ts'

export interface MergeFreezeStoryResult {
  readonly merged: MockPull
  /** Approved, and held by the freeze only. */
  readonly waiting: MockPull
  /** The ID of the comment that approved it. */
  readonly approval: number
  /** The digest of the published catalog image. */
  readonly image: string
}

/** `demo` must publish. Its freeze is on `main`. */
export async function runMergeFreezeStory(
  demo: DemoEnvironment,
  bot: Pick<BotProcess, 'url'>,
): Promise<MergeFreezeStoryResult> {
  const { github } = demo
  const { pull: merged } = await openDemoStory(demo, 'good update')
  await waitUntil('catalog-bot reports that the merge is published', () =>
    /Merged and published[^]*sha256:/.test(findBotComment(merged) ?? ''),
  )
  await waitUntil('the catalog is recorded', async () => {
    const page = await fetch(`${bot.url}/r/${demoRepositoryName}/catalog/v4.20/lighthouse`)
    return (await page.text()).includes('lighthouse.v1.2.0')
  })
  const { pull: waiting } = await openDemoStory(demo, 'update by a non-owner')
  await waitUntil(
    'catalog-bot comments on the open pull request',
    () => findBotComment(waiting) !== undefined,
  )
  // A command applies to what was shown before it was written, and GitHub's times are in seconds.
  await pause(1100)
  github.comment(waiting, 'harbormaster', '/freeze main moving the registry')
  await waitUntil('merging is frozen', () => /moving the registry/.test(findBotComment(waiting) ?? ''))
  await pause(1100)
  const { id } = github.comment(waiting, 'bob', '/approve')
  await waitUntil('the approval counts', () =>
    /^### .*Merging is frozen/m.test(findBotComment(waiting) ?? ''),
  )
  const image = /sha256:[0-9a-f]{64}/.exec(findBotComment(merged) ?? '')?.[0] ?? ''
  return { merged, waiting, approval: id, image }
}

async function waitUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 180_000; !(await holds()); await pause(100))
    if (performance.now() > end) throw new Error(`not within three minutes: ${what}`)
}
