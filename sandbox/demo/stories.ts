// The demo's pull requests, good and bad, and what must become of each.
import type { OpenPull } from '../github/people.ts'
import { publishImages, repositoryName, type DemoWorld } from './demo-world.ts'
import { addAtEnd, addOnTop } from './catalog-edits.ts'

export type Ending =
  /** It lands, and its rebuild succeeds. */
  | { readonly kind: 'lands' }
  /** It stays open, and the check of this name says `says` in its summary. */
  | { readonly kind: 'stays'; readonly check: 'ownership' | 'validation' | 'images'; readonly says: RegExp }

export interface Story {
  readonly id: string
  /** One line for the timeline. */
  readonly tells: string
  readonly ending: Ending
  /** The other of two stories of which exactly one lands; the one that does not ends as `ending` says. */
  readonly rival?: string
  open(coast: DemoWorld): OpenPull
}

const catalog = (name: string) => `catalogs/v4.20/${name}/catalog.yaml`

function fileOf(coast: DemoWorld, path: string): string {
  const text = coast.files[path]
  if (text === undefined) throw new Error(`the fixture has no ${path}`)
  return text
}

/** Both images of a version, so that the registry has what the catalog will name. */
function publish(coast: DemoWorld, text: string, name: string, version: string): void {
  publishImages(coast.registry, text, (bundle) => bundle === `${name}.v${version}`)
}

/** Somebody adds a version to a package in one catalog, its images pushed; `add` edits the file. */
function update(
  coast: DemoWorld,
  author: string,
  name: string,
  version: string,
  add: (text: string) => string,
): OpenPull {
  const path = catalog(name)
  const text = add(fileOf(coast, path))
  publish(coast, text, name, version)
  return { repository: repositoryName, author, title: `${name} ${version}`, changes: { [path]: text } }
}

export const stories: readonly Story[] = [
  {
    id: 'good update',
    tells: 'alice, an owner of lighthouse, adds version 1.2.0',
    ending: { kind: 'lands' },
    open: (coast) =>
      update(coast, 'alice', 'lighthouse', '1.2.0', (text) => addOnTop(text, 'lighthouse', '1.2.0', '1.1.0')),
  },
  {
    id: "stranger's update",
    tells: 'mallory, who owns no package, adds tidepool 0.6.0',
    ending: { kind: 'stays', check: 'ownership', says: /bob/ },
    open: (coast) =>
      update(coast, 'mallory', 'tidepool', '0.6.0', (text) => addOnTop(text, 'tidepool', '0.6.0', '0.5.0')),
  },
  {
    id: 'broken channel',
    tells: 'bob, an owner of tidepool, adds 0.5.1 next to 0.5.0, so the channel has two heads',
    ending: { kind: 'stays', check: 'validation', says: /head/ },
    open: (coast) =>
      update(coast, 'bob', 'tidepool', '0.5.1', (text) =>
        addOnTop(text, 'tidepool', '0.5.1', '0.5.0').replace(
          'replaces: tidepool.v0.5.0',
          'replaces: tidepool.v0.4.0',
        ),
      ),
  },
  {
    id: 'missing image',
    tells: 'erin, an owner of buoy, adds 3.1.0 without pushing its images',
    ending: { kind: 'stays', check: 'images', says: /buoy-bundle/ },
    open(coast) {
      const path = catalog('buoy')
      const changes = { [path]: addOnTop(fileOf(coast, path), 'buoy', '3.1.0', '3.0.0') }
      return { repository: repositoryName, author: 'erin', title: 'buoy 3.1.0', changes }
    },
  },
  {
    id: 'another bundle inside',
    tells: 'erin adds buoy 3.2.0, but the image that she pushed contains 3.1.9',
    ending: { kind: 'stays', check: 'images', says: /holds another bundle[^]*3\.2\.0[^]*3\.1\.9/ },
    open(coast) {
      const path = catalog('buoy')
      const add = (version: string) => addOnTop(fileOf(coast, path), 'buoy', version, '3.0.0')
      publish(coast, add('3.2.0').replaceAll(/(?<!:v)3\.2\.0/g, '3.1.9'), 'buoy', '3.1.9')
      return {
        repository: repositoryName,
        author: 'erin',
        title: 'buoy 3.2.0',
        changes: { [path]: add('3.2.0') },
      }
    },
  },
  {
    id: 'moved file',
    tells: "erin moves lighthouse's catalog into her own directory",
    ending: { kind: 'stays', check: 'ownership', says: /lighthouse/ },
    open(coast) {
      const path = 'catalogs/v4.19/lighthouse/catalog.yaml'
      const changes = { [path]: null, 'catalogs/v4.19/buoy/lighthouse.yaml': fileOf(coast, path) }
      return { repository: repositoryName, author: 'erin', title: 'Tidy up buoy', changes }
    },
  },
  {
    id: 'first of two',
    tells: 'carol, an owner of foghorn, adds 2.2.0 on top of 2.1.0',
    ending: { kind: 'stays', check: 'validation', says: /head/ },
    rival: 'second of two',
    open: (coast) =>
      update(coast, 'carol', 'foghorn', '2.2.0', (text) => addOnTop(text, 'foghorn', '2.2.0', '2.1.0')),
  },
  {
    id: 'second of two',
    tells: 'dave, another owner of foghorn, adds 2.1.1 on top of 2.1.0 at the same time',
    ending: { kind: 'stays', check: 'validation', says: /head/ },
    rival: 'first of two',
    open: (coast) =>
      update(coast, 'dave', 'foghorn', '2.1.1', (text) => addAtEnd(text, 'foghorn', '2.1.1', '2.1.0')),
  },
]
