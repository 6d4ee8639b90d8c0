// Takes the screenshots in docs/pictures: of a comment, and of the status pages with the data of the page tests.
// `npm run pictures` requires Chromium.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '../test/browser.ts'
import { fillPagesStore } from '../test/web/server/fill-pages-store.ts'
import { startPagesFixture } from '../test/web/server/pages-fixture.ts'
import { renderCommentPage } from './comment-page.ts'

const picturesFolder = join(import.meta.dirname, '..', 'docs', 'pictures')
const repositoryPagePath = '/r/coast/operators'
const pagesToCapture = [
  ['queue', repositoryPagePath],
  ['merged-pull', `${repositoryPagePath}/pull/11`],
  ['blocked-pull', `${repositoryPagePath}/pull/15`],
  ['package', `${repositoryPagePath}/catalog/v4.20/lighthouse`],
] as const
/** What a pull request gets that has one error: see test/report/golden-comments.test.ts. */
const goldenComment = join(import.meta.dirname, '..', 'test', 'report', 'golden', 'something-to-fix.md')

mkdirSync(picturesFolder, { recursive: true })
const pagesFixture = await startPagesFixture()
const browser = await launchBrowser()
try {
  await fillPagesStore(pagesFixture.store, { isTame: true })
  const page = await browser.newPage({ viewport: { width: 1000, height: 640 } })
  for (const [name, path] of pagesToCapture) {
    await page.goto(`${pagesFixture.url}${path}`)
    await page.screenshot({ path: join(picturesFolder, `${name}.png`) })
  }
  const commentPage = await browser.newPage({ viewport: { width: 900, height: 640 } })
  await commentPage.setContent(renderCommentPage(readFileSync(goldenComment, 'utf8')))
  await commentPage.screenshot({ path: join(picturesFolder, 'comment.png'), fullPage: true })
} finally {
  await browser.close()
  await pagesFixture.close()
}
