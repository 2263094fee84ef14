"""A model as SDFormat: a loop, poses relative to each other, degrees, joints the other way round, a frame, a spring."""

SDF = """<sdf version="1.10">
  <world name="w"><gravity>0 0.5 -9.81</gravity>
  <model name="bars">
    <pose>0.1 0 0.5 0 0 90</pose>
    <link name="crank">
      <pose degrees="true">0 0 0 0 90 0</pose>
      <inertial><mass>0.5</mass><pose>0.05 0 0 0 0 0.3</pose>
        <inertia><ixx>0.002</ixx><iyy>0.003</iyy><izz>0.0025</izz><ixy>0.0001</ixy></inertia></inertial>
      <collision name="c"><geometry/></collision>
    </link>
    <frame name="pin frame" attached_to="crank"><pose>0.1 0 0 0 0 0</pose></frame>
    <link name="coupler">
      <pose relative_to="pin frame">0.15 0 0.2 0.2 0 0.4</pose>
      <inertial><mass>0.8</mass><inertia><ixx>0.004</ixx><iyy>0.005</iyy><izz>0.006</izz></inertia></inertial>
    </link>
    <link name="rocker">
      <pose>0.3 0 0.1 0 0 0</pose>
      <inertial><mass>0.4</mass><inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.0015</izz></inertia></inertial>
    </link>
    <joint name="pivot" type="revolute"><parent>world</parent><child>crank</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz><limit><lower>-2</lower><upper>2.5</upper><effort>6</effort></limit>
        <dynamics><damping>0.01</damping><spring_stiffness>0.7</spring_stiffness><spring_reference>0.2</spring_reference></dynamics></axis>
    </joint>
    <joint name="pin" type="universal"><parent>coupler</parent><child>pin frame</child><pose relative_to="pin frame"/>
      <axis><xyz expressed_in="__model__">0 1 0</xyz></axis><axis2><xyz expressed_in="__model__">1 0 0.2</xyz></axis2></joint>
    <joint name="top" type="ball"><parent>coupler</parent><child>rocker</child><pose>0 0 0.15 0 0 0</pose></joint>
    <joint name="foot" type="revolute"><parent>rocker</parent><child>world</child><pose relative_to="rocker">0 0 -0.1 0 0 0</pose>
      <axis><xyz expressed_in="__model__">0 2 0</xyz>
        <dynamics><spring_stiffness>0.5</spring_stiffness><spring_reference>0.4</spring_reference></dynamics></axis></joint>
  </model>
  <model name="block"><static>true</static><link name="stone"><pose>1 0 0 0 0 0</pose></link></model>
  <model name="stray"><link name="stone"><pose>2 0 0 0 0 0</pose></link></model>
  </world>
</sdf>
"""
