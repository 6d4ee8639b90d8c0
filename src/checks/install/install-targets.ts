import type { BundleFormat } from '@catalog-bot/bundle/bundle-files'

export const installTargets = ['OLM v0', 'OLM v1', 'RukPak plain', 'RukPak registry', 'RukPak helm'] as const
export type InstallTarget = (typeof installTargets)[number]

const bundleFormatByInstallTarget: Readonly<Record<InstallTarget, BundleFormat>> = {
  'OLM v0': 'registry+v1',
  'OLM v1': 'registry+v1',
  'RukPak plain': 'plain+v0',
  'RukPak registry': 'registry+v1',
  'RukPak helm': 'helm+v3',
}

/** Returns no targets for an unknown format. */
export function listInstallTargetsForFormat(format: BundleFormat | undefined): readonly InstallTarget[] {
  return installTargets.filter((target) => bundleFormatByInstallTarget[target] === format)
}

/** Parses a name from the configuration or command line, such as `olm-v0`. */
export function parseInstallTargetId(text: string): InstallTarget | undefined {
  return installTargets.find((target) => toInstallTargetId(target) === text)
}

export const installTargetIds: readonly string[] = installTargets.map((target) => toInstallTargetId(target))

function toInstallTargetId(target: InstallTarget): string {
  return target.toLowerCase().replace(' ', '-')
}
