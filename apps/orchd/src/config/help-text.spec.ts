import { describe, expect, it } from '@jest/globals';
import { helpText } from './help-text.js';
import { SETTING_TABLE, environmentName } from './setting-table.js';

describe('the help text', () => {
  const text = helpText('1.2.3');

  it.each(Object.values(SETTING_TABLE).map(({ flag, default: preset }) => [flag, preset]))(
    'tells flag, variable and default of --%s',
    (flag, preset) => {
      const line = text.split('\n').find((candidate) => candidate.trim().startsWith(`--${flag} `));
      expect(line).toContain(environmentName(flag));
      expect(line).toContain(preset);
    },
  );

  it('fits a terminal of 100 columns', () => {
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});
