import type { BundleFormat } from '../../bundle/bundle-files.ts'

export const targets = ['OLM v0', 'OLM v1', 'RukPak plain', 'RukPak registry', 'RukPak helm'] as const
export type Target = (typeof targets)[number]

const formatOf: Readonly<Record<Target, BundleFormat>> = {
  'OLM v0': 'registry+v1',
  'OLM v1': 'registry+v1',
  'RukPak plain': 'plain+v0',
  'RukPak registry': 'registry+v1',
  'RukPak helm': 'helm+v3',
}

/** Returns no targets for an unknown format. */
export function targetsOf(format: BundleFormat | undefined): readonly Target[] {
  return targets.filter((target) => formatOf[target] === format)
}

/** Parses a name from the configuration or command line, such as `olm-v0`. */
export function targetNamed(text: string): Target | undefined {
  return targets.find((target) => idOf(target) === text)
}

export const targetIds: readonly string[] = targets.map((target) => idOf(target))

function idOf(target: Target): string {
  return target.toLowerCase().replace(' ', '-')
}
