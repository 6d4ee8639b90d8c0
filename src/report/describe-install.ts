// Renders a simulated install as a list of steps and outcomes in plain text.
import type {
  ChannelInstallResult,
  InstallReport,
  InstallNote,
  InstallVerdict,
  InstallStep,
  InstallStepOutcome,
} from '../checks/install/install-report.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'

const labelByInstallStepOutcome: Readonly<Record<InstallStepOutcome, string>> = {
  passed: 'ok      ',
  warning: 'warning ',
  failed: 'FAILED  ',
  unknown: 'unknown ',
  'left out': '-       ',
}

const installVerdictLabels: Readonly<Record<InstallVerdict, string>> = {
  yes: 'installs (simulated)',
  no: 'does not install',
  unknown: 'inconclusive',
}

export const installNoteLabelByKind: Readonly<Record<InstallNote['kind'], string>> = {
  refused: 'fails with',
  unknown: 'inconclusive for',
  warning: 'warning for',
}

/** The output counts further remarks of a step. */
const maxNotesPerInstallStep = 20

/** `verbose`: prints installers' full messages, which can have thousands of characters. */
export function describeInstall(
  { package: packageName, installs, channels }: InstallReport,
  { verbose = false }: { readonly verbose?: boolean } = {},
): string {
  const all = channels.length > 1 ? [`${packageName}: ${installVerdictLabels[installs]}`, ''] : []
  return [
    ...all,
    ...channels.flatMap((channel) => [...describeChannelInstall(packageName, channel, verbose), '']),
  ]
    .map(escapeNonPrintableCharacters)
    .join('\n')
}

function describeChannelInstall(packageName: string, install: ChannelInstallResult, verbose: boolean) {
  const { channel, bundle, installs, steps, comesAlong, acceptance, provisioner } = install
  const bundleSuffix = bundle === undefined ? '' : `: ${bundle}`
  const shown = new Set(steps.flatMap(({ remarks }) => remarks.map(({ says }) => says)))
  const hasDetails = steps.some(({ remarks }) => remarks.some(({ detail }) => detail !== undefined))
  return [
    `${packageName}, channel ${channel}${bundleSuffix}: ${installVerdictLabels[installs]}`,
    ...steps
      .filter(({ outcome }) => outcome !== 'left out')
      .flatMap((step) => describeInstallStep(step, verbose)),
    ...describeSkippedInstallSteps(steps),
    ...(comesAlong.length > 0 ? ['', '  Dependencies:'] : []),
    ...comesAlong.flatMap((one) => [
      `    ${one.name} (package ${one.package}, channel ${one.channel})`,
      ...one.because.map((why) => `      ${why}`),
    ]),
    '',
    '  Results by target:',
    ...acceptance.flatMap(({ target, installs: its, because }) => [
      `    ${target.padEnd(16)} ${its === 'other format' ? 'does not install bundles in this format' : its}`,
      ...because
        .filter((why) => !shown.has(why))
        .slice(0, maxNotesPerInstallStep)
        .map((why) => `      ${why}`),
    ]),
    ...describeRukPakRequirements(provisioner),
    ...(hasDetails && !verbose ? ['', "  Run with --verbose to see the installers' full messages."] : []),
  ]
}

function describeInstallStep({ title, outcome, facts, remarks }: InstallStep, verbose: boolean) {
  const more = remarks.length - maxNotesPerInstallStep
  return [
    `  ${labelByInstallStepOutcome[outcome]}${title}`,
    ...facts.map((fact) => `            ${fact}`),
    ...remarks
      .slice(0, maxNotesPerInstallStep)
      .flatMap(({ kind, says, detail, hint, targets }) => [
        `            ${installNoteLabelByKind[kind]} ${targets.join(', ')}: ${says}`,
        ...(hint === undefined ? [] : [`            ${hint}`]),
        ...(detail === undefined || !verbose ? [] : [`              ${detail}`]),
      ]),
    ...(more > 0 ? [`            and ${more} more`] : []),
  ]
}

/** One line for all steps that were skipped for the same reason. */
function describeSkippedInstallSteps(steps: readonly InstallStep[]): readonly string[] {
  const skipped = steps.filter(({ outcome }) => outcome === 'left out')
  return [...Map.groupBy(skipped, ({ facts }) => facts.join(' '))].flatMap(([reason, same]) => [
    `  ${labelByInstallStepOutcome['left out']}Not checked: ${same.map(({ title }) => title).join('; ')}`,
    ...(reason === '' ? [] : [`            ${reason}`]),
  ])
}

function describeRukPakRequirements(points: ChannelInstallResult['provisioner']): readonly string[] {
  if (points.length === 0) return []
  const held = points.filter(({ told }) => told === 'holds')
  const left = points.filter(({ told }) => told === 'cluster')
  return [
    '',
    `  RukPak's ${points.length} requirements for provisioners:`,
    ...held.map(({ number, asks, says }) => `    ${number}. ${asks}: ${says}`),
    `    can be verified only by a cluster test: ${left.map(({ number }) => number).join(', ')}`,
  ]
}
