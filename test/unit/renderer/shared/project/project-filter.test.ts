import { describe, expect, it } from 'vitest';
import { findProjects, PROJECTS_SHOWN_MAX } from '../../../../../renderer/shared/project/project-filter.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const projects = [
  makeProject('Happy Paws'),
  makeProject('Demo'),
  makeProject('My Happy Shop', { slug: 'shop' }),
  makeProject('Aquarium', { slug: 'happy-fish' }),
];

const namesOf = (text: string) => findProjects(projects, text).shown.map(({ name }) => name);

describe('finding a project', () => {
  it.each([
    ['', ['Happy Paws', 'Demo', 'My Happy Shop', 'Aquarium']],
    ['  ', ['Happy Paws', 'Demo', 'My Happy Shop', 'Aquarium']],
    ['HAPPY', ['Happy Paws', 'Aquarium', 'My Happy Shop']],
    ['shop', ['My Happy Shop']],
    ['paws happy', ['Happy Paws']],
    ['fish', ['Aquarium']],
    ['zebra', []],
  ])('by “%s”', (text, names) => {
    expect(namesOf(text)).toEqual(names);
  });

  it('draws a limited number, and counts the rest', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => makeProject(`Project ${index}`));
    expect(findProjects(many, '')).toMatchObject({ hidden: 1_000 - PROJECTS_SHOWN_MAX });
    const names = findProjects(many, 'project 99').shown.map(({ name }) => name);
    expect(names.slice(0, 11)).toEqual(names.filter((name) => name.startsWith('Project 99')));
    expect(names).toHaveLength(19);
    expect(findProjects(many, 'project 999')).toMatchObject({ shown: [{ name: 'Project 999' }], hidden: 0 });
  });
});
