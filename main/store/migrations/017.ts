/** Plans by any name: the contract has their list. A new column in place of the old one keeps the table and its triggers. */
export const PLANS_SCHEMA = `
ALTER TABLE projects ADD COLUMN plan_name TEXT NOT NULL DEFAULT 'free';
UPDATE projects SET plan_name = plan;
ALTER TABLE projects DROP COLUMN plan;
ALTER TABLE projects RENAME COLUMN plan_name TO plan;
`;
