// Takes the screenshots in docs/pictures: of a comment, and of the status pages with the data of the page tests, in
// light and dark, and on a narrow screen.
// `npm run pictures` requires Chromium.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '../test/browser.ts'
import { fillPagesStore } from '../test/web/server/fill-pages-store.ts'
import { startPagesFixture } from '../test/web/server/pages-fixture.ts'
import { renderCommentPage } from './comment-page.ts'

const picturesFolder = join(import.meta.dirname, '..', 'docs', 'pictures')
const repositoryPagePath = '/r/coast/operators'
/** The third value: pixels in addition to the usual height. */
const pagesToCapture = [
  ['queue', repositoryPagePath, 240],
  ['merged-pull', `${repositoryPagePath}/pull/11`, 0],
  ['blocked-pull', `${repositoryPagePath}/pull/15`, 0],
  ['package', `${repositoryPagePath}/catalog/v4.20/lighthouse`, 0],
  ['compare', `${repositoryPagePath}/compare?from=v4.20&to=v4.21`, 0],
  ['operations', `${repositoryPagePath}/operations`, 0],
] as const
/** Each page is taken in each of these, with this ending of the file's name. */
const pictureVariants = [
  ['', 'light', 920, 600],
  ['-dark', 'dark', 920, 600],
  ['-narrow', 'light', 360, 700],
] as const
/** The documentation shows many pictures, so each is small. */
const maxPictureBytes = 120_000
/** What a pull request gets that has one error: see test/report/golden-comments.test.ts. */
const goldenCommentPath = join(import.meta.dirname, '..', 'test', 'report', 'golden', 'something-to-fix.md')

mkdirSync(picturesFolder, { recursive: true })
const pagesFixture = await startPagesFixture()
const browser = await launchBrowser()
try {
  await fillPagesStore(pagesFixture.store, { isTame: true })
  for (const [ending, colorScheme, width, height] of pictureVariants) {
    const page = await browser.newPage({ colorScheme })
    for (const [name, path, more] of pagesToCapture) {
      await page.setViewportSize({ width, height: height + more })
      await page.goto(`${pagesFixture.url}${path}`)
      const picture = await page.screenshot({ path: join(picturesFolder, `${name}${ending}.png`) })
      if (picture.length > maxPictureBytes)
        throw new Error(`${name}${ending}.png has ${picture.length} bytes`)
    }
    await page.close()
  }
  const commentPage = await browser.newPage({ viewport: { width: 900, height: 640 } })
  await commentPage.setContent(renderCommentPage(readFileSync(goldenCommentPath, 'utf8')))
  await commentPage.screenshot({ path: join(picturesFolder, 'comment.png'), fullPage: true })
} finally {
  await browser.close()
  await pagesFixture.close()
}
