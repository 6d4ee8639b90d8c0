// The demo's pull requests, good and bad, with their expected outcomes.
import type { CreatePullOptions } from '../github/user-actions.ts'
import { pushCatalogImages, demoRepositoryName, type DemoEnvironment } from './demo-environment.ts'
import { addVersionToChannelEnd, addVersionToChannelStart } from './catalog-edits.ts'

export type ExpectedStoryOutcome =
  /** It merges, and its rebuild succeeds. */
  | { readonly kind: 'lands' }
  /** It remains open, and the summary of this check matches `summaryPattern`. */
  | {
      readonly kind: 'stays'
      readonly check: 'ownership' | 'validation' | 'images'
      readonly summaryPattern: RegExp
    }

export interface DemoStory {
  readonly id: string
  /** One line for the timeline. */
  readonly description: string
  readonly ending: ExpectedStoryOutcome
  /** The other of two stories of which exactly one merges. The other one ends as `ending` specifies. */
  readonly rival?: string
  open(coast: DemoEnvironment): CreatePullOptions
}

const getCatalogFilePath = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`

function getFixtureFileText(coast: DemoEnvironment, path: string): string {
  const text = coast.files[path]
  if (text === undefined) throw new Error(`the fixture does not contain ${path}`)
  return text
}

/** Both images of a version, so that the registry has the images that the catalog will refer to. */
function pushBundleImages(coast: DemoEnvironment, text: string, name: string, version: string): void {
  pushCatalogImages(coast.registry, text, (bundle) => bundle === `${name}.v${version}`)
}

/** A story that adds a version to a package in one catalog, with its images pushed. `add` edits the file. */
function createPullOptionsForNewVersion(
  coast: DemoEnvironment,
  author: string,
  name: string,
  version: string,
  add: (text: string) => string,
): CreatePullOptions {
  const path = getCatalogFilePath(name)
  const text = add(getFixtureFileText(coast, path))
  pushBundleImages(coast, text, name, version)
  return { repository: demoRepositoryName, author, title: `${name} ${version}`, changes: { [path]: text } }
}

export async function openDemoStory(coast: DemoEnvironment, id: string) {
  const story = demoStories.find((one) => one.id === id)
  if (story === undefined) throw new Error(`the demo has no story ${id}`)
  return { story, pull: await coast.github.openPull(story.open(coast)) }
}

export const demoStories: readonly DemoStory[] = [
  {
    id: 'good update',
    description: 'alice, an owner of lighthouse, adds version 1.2.0',
    ending: { kind: 'lands' },
    open: (coast) =>
      createPullOptionsForNewVersion(coast, 'alice', 'lighthouse', '1.2.0', (text) =>
        addVersionToChannelStart(text, 'lighthouse', '1.2.0', '1.1.0'),
      ),
  },
  {
    id: 'update by a non-owner',
    description: 'mallory, who owns no package, adds tidepool 0.6.0',
    ending: { kind: 'stays', check: 'ownership', summaryPattern: /bob/ },
    open: (coast) =>
      createPullOptionsForNewVersion(coast, 'mallory', 'tidepool', '0.6.0', (text) =>
        addVersionToChannelStart(text, 'tidepool', '0.6.0', '0.5.0'),
      ),
  },
  {
    id: 'two channel heads',
    description: 'bob, an owner of tidepool, adds 0.5.1 next to 0.5.0, so the channel has two heads',
    ending: { kind: 'stays', check: 'validation', summaryPattern: /head/ },
    open: (coast) =>
      createPullOptionsForNewVersion(coast, 'bob', 'tidepool', '0.5.1', (text) =>
        addVersionToChannelStart(text, 'tidepool', '0.5.1', '0.5.0').replace(
          'replaces: tidepool.v0.5.0',
          'replaces: tidepool.v0.4.0',
        ),
      ),
  },
  {
    id: 'missing image',
    description: 'erin, an owner of buoy, adds 3.1.0 without pushing its images',
    ending: { kind: 'stays', check: 'images', summaryPattern: /buoy-bundle/ },
    open(coast) {
      const path = getCatalogFilePath('buoy')
      const changes = {
        [path]: addVersionToChannelStart(getFixtureFileText(coast, path), 'buoy', '3.1.0', '3.0.0'),
      }
      return { repository: demoRepositoryName, author: 'erin', title: 'buoy 3.1.0', changes }
    },
  },
  {
    id: 'wrong bundle in the image',
    description: 'erin adds buoy 3.2.0, but the image that she pushed contains 3.1.9',
    ending: {
      kind: 'stays',
      check: 'images',
      summaryPattern: /contains a different bundle[^]*3\.2\.0[^]*3\.1\.9/,
    },
    open(coast) {
      const path = getCatalogFilePath('buoy')
      const addVersion = (version: string) =>
        addVersionToChannelStart(getFixtureFileText(coast, path), 'buoy', version, '3.0.0')
      pushBundleImages(coast, addVersion('3.2.0').replaceAll(/(?<!:v)3\.2\.0/g, '3.1.9'), 'buoy', '3.1.9')
      return {
        repository: demoRepositoryName,
        author: 'erin',
        title: 'buoy 3.2.0',
        changes: { [path]: addVersion('3.2.0') },
      }
    },
  },
  {
    id: 'moved file',
    description: "erin moves lighthouse's catalog into her own directory",
    ending: { kind: 'stays', check: 'ownership', summaryPattern: /lighthouse/ },
    open(coast) {
      const path = 'catalogs/v4.19/lighthouse/catalog.yaml'
      const changes = { [path]: null, 'catalogs/v4.19/buoy/lighthouse.yaml': getFixtureFileText(coast, path) }
      return { repository: demoRepositoryName, author: 'erin', title: 'Tidy up buoy', changes }
    },
  },
  {
    id: 'first of two competing updates',
    description: 'carol, an owner of foghorn, adds 2.2.0 on top of 2.1.0',
    ending: { kind: 'stays', check: 'validation', summaryPattern: /head/ },
    rival: 'second of two competing updates',
    open: (coast) =>
      createPullOptionsForNewVersion(coast, 'carol', 'foghorn', '2.2.0', (text) =>
        addVersionToChannelStart(text, 'foghorn', '2.2.0', '2.1.0'),
      ),
  },
  {
    id: 'second of two competing updates',
    description: 'dave, another owner of foghorn, adds 2.1.1 on top of 2.1.0 at the same time',
    ending: { kind: 'stays', check: 'validation', summaryPattern: /head/ },
    rival: 'first of two competing updates',
    open: (coast) =>
      createPullOptionsForNewVersion(coast, 'dave', 'foghorn', '2.1.1', (text) =>
        addVersionToChannelEnd(text, 'foghorn', '2.1.1', '2.1.0'),
      ),
  },
]
